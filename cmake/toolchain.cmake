# Compiler switches that hold for every floor.
add_library(reprise_switches INTERFACE)
target_compile_options(reprise_switches INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual -Werror)
target_include_directories(reprise_switches INTERFACE ${CMAKE_SOURCE_DIR})

set(REPRISE_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined or thread")
if(REPRISE_SANITIZE)
  add_compile_options(-fsanitize=${REPRISE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REPRISE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports uninitialised or overflowing storage in sanitized coroutine frames and variants that has neither,
    # and takes Asio's own frame allocation for a mismatched one.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-mismatched-new-delete)
  endif()
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # A precompiled header is used through ccache only with these sloppiness switches.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    add_compile_options(-fpch-preprocess)
  endif()
endif()

include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} REPRISE_HAS_${linker})
  if(REPRISE_HAS_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

# reprise_floor(NAME dependency...): one static library from every source file in this folder.
function(reprise_floor name)
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  if(NOT sources)
    add_library(reprise_${name} INTERFACE)
    return()
  endif()
  add_library(reprise_${name} STATIC ${sources})
  target_link_libraries(reprise_${name} PUBLIC ${ARGN} PRIVATE reprise_switches)
  target_include_directories(reprise_${name} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()
