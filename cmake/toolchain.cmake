# Compiler and linker options of every build, and the functions with which rooms and storeys are declared.
add_library(reprise_switches INTERFACE)
target_compile_options(reprise_switches INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
  # In a unity build, a name in one file's unnamed namespace may be shadowed in another file.
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,-Wno-shadow,-Wshadow>
  # There, GCC also warns about members whose type is in an unnamed namespace.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(reprise_switches INTERFACE -Wreserved-identifier)   # GCC has no such warning
endif()
option(REPRISE_WERROR "warnings are errors; switch this off to build with another compiler" ON)
if(REPRISE_WERROR)
  target_compile_options(reprise_switches INTERFACE -Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC starts to collect garbage at 128 MiB, which every file here needs. A later start takes 6 % less time and at most 120 MiB more.
  add_compile_options(--param=ggc-min-heapsize=500000)
  # A false warning: GCC reports the allocation of a coroutine's frame by Asio, depending on what is inlined. The address sanitizer
  # finds real mismatches.
  add_compile_options(-Wno-mismatched-new-delete)
endif()

set(REPRISE_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined or thread")
option(REPRISE_FUZZ "build the fuzz targets, and instrument the rooms that they run; clang only" OFF)
option(REPRISE_COUNTS "count which lines and branches run; clang only" OFF)
if(REPRISE_SANITIZE)
  add_compile_options(-fsanitize=${REPRISE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REPRISE_SANITIZE})
  # The tables of sanitizers and counters are full of addresses. Relocating them at each start takes longer than most tests.
  add_compile_options(-fno-pie)
  add_link_options(-no-pie)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # False warnings of GCC 12 about coroutine frames and variants under sanitizers.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow)
  endif()
endif()
if(REPRISE_COUNTS)
  # Counts are written only if LLVM_PROFILE_FILE names a file.
  add_compile_options(-fprofile-instr-generate=/dev/null -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate=/dev/null)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches files with a precompiled header only with this sloppiness.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    add_compile_options(-fpch-preprocess)
  endif()
endif()

# Instruments that guide the fuzz targets. Rooms that parse the input of a target report every comparison, so that the fuzzer finds
# words and numbers. Rooms above the sockets run only in stories, where the input takes the place of chance: they report only which
# code has run, because reporting comparisons takes a third of the time of each story, and of each test of the same build.
set(reprise_guide_words "")
set(reprise_guide_steps "")
if(REPRISE_FUZZ)
  set(reprise_guide_words -fsanitize=fuzzer-no-link)
  set(reprise_guide_steps -fsanitize-coverage=inline-8bit-counters,pc-table)
endif()

include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} REPRISE_HAS_${linker})
  if(REPRISE_HAS_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()

# reprise_includes(TARGET SCOPE FILE...): targets that link TARGET can include these files and folders of the current folder, by their
# paths from the root of the repository. A room can include no header of a room that it does not link.
function(reprise_includes target scope)
  file(RELATIVE_PATH here ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(tree ${CMAKE_BINARY_DIR}/include/${target})
  foreach(name ${ARGN})
    cmake_path(SET link NORMALIZE "${tree}/${here}/${name}")
    cmake_path(SET real NORMALIZE "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
    string(REGEX REPLACE "/$" "" link ${link})
    string(REGEX REPLACE "/$" "" real ${real})
    cmake_path(GET link PARENT_PATH folder)
    # An earlier configuration may have linked the whole folder. Files that are created below such a link would be created in the
    # source tree.
    if(IS_SYMLINK ${folder})
      file(REMOVE ${folder})
    endif()
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${real} ${link} SYMBOLIC)
  endforeach()
  target_include_directories(${target} ${scope} ${tree})
endfunction()

# reprise_storey(NAME [USES storey...]): the rooms of this folder form the storey NAME, which is also their namespace. They may link
# rooms of this storey and of the storeys that it uses. tests/floors.py reads these lines, too.
macro(reprise_storey name)
  set(reprise_storey ${name})
  set(reprise_uses ${ARGN})
  list(REMOVE_ITEM reprise_uses USES)
endmacro()

# reprise_sources(FOLDER dependency...): a static library of all source files in the folder, named after the folder. It can include the
# headers of the libraries that it links, and they can include its headers. If the folder contains rooms, only the headers directly in
# it are visible.
function(reprise_sources folder)
  cmake_path(ABSOLUTE_PATH folder NORMALIZE OUTPUT_VARIABLE path)
  string(REGEX REPLACE "/$" "" path ${path})
  cmake_path(GET path FILENAME name)
  foreach(linked ${ARGN})
    set(storey "")
    if(TARGET ${linked})
      get_target_property(storey ${linked} REPRISE_STOREY)
    endif()
    if(storey AND NOT storey IN_LIST reprise_uses AND NOT storey STREQUAL reprise_storey)
      message(FATAL_ERROR "reprise_${name} links ${linked}, but the storey ${reprise_storey} does not use the storey ${storey}")
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  add_library(reprise_${name} STATIC ${sources})
  set_target_properties(reprise_${name} PROPERTIES REPRISE_STOREY ${reprise_storey})
  target_link_libraries(reprise_${name} PUBLIC ${ARGN} PRIVATE reprise_switches reprise_whole_program)
  file(GLOB below CONFIGURE_DEPENDS ${folder}/*/*.hpp)
  set(shown ${folder})
  if(below)
    file(GLOB shown CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.hpp)
  endif()
  reprise_includes(reprise_${name} PUBLIC ${shown})
  set(name ${name} PARENT_SCOPE)
endfunction()

# reprise_room(FOLDER dependency...): a room without sockets.
function(reprise_room folder)
  reprise_sources(${folder} ${ARGN})
  target_compile_options(reprise_${name} PRIVATE ${reprise_guide_words})
endfunction()

# reprise_io_room(FOLDER dependency...): a room above the sockets. All such rooms share one precompiled header.
function(reprise_io_room folder)
  reprise_sources(${folder} ${ARGN})
  target_compile_options(reprise_${name} PRIVATE ${reprise_guide_steps})
  if(name STREQUAL "io")
    target_precompile_headers(reprise_io PRIVATE io/precompiled.hpp)
  else()
    target_precompile_headers(reprise_${name} REUSE_FROM reprise_io)
  endif()
endfunction()

# reprise_as_units(TARGET): compiles several files as one unit, except in the build `dev`, so that common headers are read once; that is
# most of the compile time. Not for rooms on the data path: GCC finds the profile of a function by its position in the unit, so a change
# of one file would lose the profile of all files of the unit.
function(reprise_as_units target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# reprise_off_the_data_path(TARGET): a room whose code no request waits for. It is compiled in units, and under sanitizers without
# optimization, which takes half the time. The fuzz targets of parsers, whose speed matters, do not run such rooms.
function(reprise_off_the_data_path target)
  reprise_as_units(${target})
  if(NOT REPRISE_SANITIZE)
    return()
  endif()
  target_compile_options(${target} PRIVATE -O0)
  # A precompiled header can be used only with the optimization with which it was compiled.
  get_target_property(shared ${target} PRECOMPILE_HEADERS_REUSE_FROM)
  if(shared)
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    target_compile_options(${target} PRIVATE "SHELL:-include ${CMAKE_SOURCE_DIR}/proxy/net/io/precompiled.hpp")
  endif()
endfunction()

# reprise_link_first(TARGET LIBRARY...): links these libraries first. If several objects contain the same inline function of a header, the
# linker takes the first one.
function(reprise_link_first target)
  foreach(library ${ARGN})
    target_link_options(${target} PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:${library}>,--no-whole-archive")
  endforeach()
endfunction()

# reprise_data_path_first(TARGET): under sanitizers, makes the program take inline functions from the optimized rooms of the data path.
function(reprise_data_path_first target)
  if(REPRISE_SANITIZE)
    set(rooms session exchange attempt worker request tunnel replay dial upstream tls io)
    list(TRANSFORM rooms PREPEND reprise_)
    reprise_link_first(${target} ${rooms})
  endif()
endfunction()
