# Compiler switches that hold for every room.
add_library(reprise_switches INTERFACE)
target_compile_options(reprise_switches INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-qual
  # Where several files are one unit, what one names in its unnamed namespace another may shadow.
  $<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,-Wno-shadow,-Wshadow>
  # And what has a member of such a type GCC takes for a part of several units.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wno-subobject-linkage>)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(reprise_switches INTERFACE -Wreserved-identifier)   # GCC has no such warning
endif()
option(REPRISE_WERROR "a warning ends the build; packagers with another compiler switch it off" ON)
if(REPRISE_WERROR)
  target_compile_options(reprise_switches INTERFACE -Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # It looks through its memory for what can be given back from 128 MiB on, which every file here needs. Later: 6 % less time, and at most
  # 120 MiB more.
  add_compile_options(--param=ggc-min-heapsize=500000)
  # It takes Asio's allocation of a coroutine's frame for a mismatched one if it inlines it. The address sanitizer finds real ones.
  add_compile_options(-Wno-mismatched-new-delete)
endif()

set(REPRISE_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined or thread")
option(REPRISE_FUZZ "build the fuzz targets, and every room such that it can guide them; clang" OFF)
option(REPRISE_COUNTS "count which lines and branches are run; clang" OFF)
if(REPRISE_SANITIZE)
  add_compile_options(-fsanitize=${REPRISE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${REPRISE_SANITIZE})
  # What sanitizers and counters lay beside the code is full of addresses: moving the program to another place takes longer than most
  # of its tests.
  add_compile_options(-fno-pie)
  add_link_options(-no-pie)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 reports uninitialised or overflowing storage in sanitized coroutine frames and variants that has neither.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow)
  endif()
endif()
if(REPRISE_COUNTS)
  # Nothing is written but where LLVM_PROFILE_FILE says.
  add_compile_options(-fprofile-instr-generate=/dev/null -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate=/dev/null)
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

# How a room guides the fuzz targets that run it. One that reads what a target is given tells all that it compares: that leads to
# words and numbers. One above the sockets is run by stories alone, whose bytes stand in the place of chance: it tells where it has
# been, for telling what it compares takes a third of the time of every story, and of every test of the same build.
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

# reprise_includes(TARGET SCOPE FILE...): whoever links the target can include these files and folders of this folder, by
# their names from the root of the repository, and nothing else of ours. What a room does not link it does not see.
function(reprise_includes target scope)
  file(RELATIVE_PATH here ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(tree ${CMAKE_BINARY_DIR}/include/${target})
  foreach(name ${ARGN})
    cmake_path(SET link NORMALIZE "${tree}/${here}/${name}")
    cmake_path(SET real NORMALIZE "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
    string(REGEX REPLACE "/$" "" link ${link})
    string(REGEX REPLACE "/$" "" real ${real})
    cmake_path(GET link PARENT_PATH folder)
    # An earlier configuration may have linked the whole folder: what is made below such a link is made in the sources.
    if(IS_SYMLINK ${folder})
      file(REMOVE ${folder})
    endif()
    file(MAKE_DIRECTORY ${folder})
    file(CREATE_LINK ${real} ${link} SYMBOLIC)
  endforeach()
  target_include_directories(${target} ${scope} ${tree})
endfunction()

# reprise_storey(NAME [USES storey...]): the rooms of this folder form a storey, whose name is their namespace. They link rooms of this
# storey and of those that it uses. tests/floors.py reads these lines, too.
macro(reprise_storey name)
  set(reprise_storey ${name})
  set(reprise_uses ${ARGN})
  list(REMOVE_ITEM reprise_uses USES)
endmacro()

# reprise_sources(FOLDER dependency...): one static library from every source file in the folder, with the folder's name. It sees the
# headers of what it links, and shows its own. A folder with rooms below it shows the headers that lie in itself.
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

# reprise_io_room(FOLDER dependency...): a room above the sockets. All of them share the one header that is compiled first.
function(reprise_io_room folder)
  reprise_sources(${folder} ${ARGN})
  target_compile_options(reprise_${name} PRIVATE ${reprise_guide_steps})
  if(name STREQUAL "io")
    target_precompile_headers(reprise_io PRIVATE io/precompiled.hpp)
  else()
    target_precompile_headers(reprise_${name} REUSE_FROM reprise_io)
  endif()
endfunction()

# reprise_as_units(TARGET): several files as one unit in every build but `dev`, so that what they all include is read once, which is
# most of what compiling them takes. Not for rooms that carry requests: GCC finds the counts of the profile by the place of a
# function in its unit, and a change of one file would lose those of all.
function(reprise_as_units target)
  if(CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# reprise_off_the_data_path(TARGET): a room that no request waits for. Besides, it is not optimized under sanitizers, which takes half
# the time; the fuzz targets of parsers, whose speed counts, do not run it.
function(reprise_off_the_data_path target)
  reprise_as_units(${target})
  if(NOT REPRISE_SANITIZE)
    return()
  endif()
  target_compile_options(${target} PRIVATE -O0)
  # A compiled header serves only those that are optimized as it is.
  get_target_property(shared ${target} PRECOMPILE_HEADERS_REUSE_FROM)
  if(shared)
    set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
    target_compile_options(${target} PRIVATE "SHELL:-include ${CMAKE_SOURCE_DIR}/proxy/net/io/precompiled.hpp")
  endif()
endfunction()

# reprise_link_first(TARGET LIBRARY...): of what several objects have from a header the linker takes the first: that of these libraries.
function(reprise_link_first target)
  foreach(library ${ARGN})
    target_link_options(${target} PRIVATE "LINKER:--whole-archive,$<TARGET_FILE:${library}>,--no-whole-archive")
  endforeach()
endfunction()

# reprise_data_path_first(TARGET): a program that is quick under sanitizers, too, though it has rooms that are not optimized there.
function(reprise_data_path_first target)
  if(REPRISE_SANITIZE)
    set(rooms session exchange attempt worker request tunnel replay dial upstream tls io)
    list(TRANSFORM rooms PREPEND reprise_)
    reprise_link_first(${target} ${rooms})
  endif()
endfunction()
