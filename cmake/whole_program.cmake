# How the shipped program is optimized as a whole: by the linker, and by what the benchmark has shown to be run often.
#
# The objects of the rooms hold both, code and what the linker optimizes from: tests link the code, which takes seconds, the program
# is made from the rest. cmake/profile/README.md says how the profile is made.
option(REPRISE_LTO "optimize the program as a whole at its link; GCC" OFF)
set(REPRISE_PROFILE "" CACHE STRING "use: compile by the profile in cmake/profile; make: count, for a new one; GCC")
set(profile_archive ${CMAKE_SOURCE_DIR}/cmake/profile/release.tar.xz)

add_library(reprise_whole_program INTERFACE)   # for what the program is made of
add_library(reprise_whole_program_link INTERFACE)   # for the program

# reprise_in_program_alone(TARGET): no test links it. Its objects hold no code, and take half the time.
function(reprise_in_program_alone target)
  set_target_properties(${target} PROPERTIES REPRISE_IN_PROGRAM_ALONE ON)
endfunction()

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  return()
endif()
if(REPRISE_LTO)
  # The plain ar lists no symbol of an object without code, unless it happens to find GCC's plugin. A cross ar does not.
  if(CMAKE_CXX_COMPILER_AR AND CMAKE_CXX_COMPILER_RANLIB)
    set(CMAKE_AR ${CMAKE_CXX_COMPILER_AR})
    set(CMAKE_RANLIB ${CMAKE_CXX_COMPILER_RANLIB})
  endif()
  target_compile_options(reprise_whole_program INTERFACE
    -flto $<IF:$<BOOL:$<TARGET_PROPERTY:REPRISE_IN_PROGRAM_ALONE>>,-fno-fat-lto-objects,-ffat-lto-objects>)
  # GCC 12 names the frame of an inline coroutine anew in every file, and takes that for two definitions.
  target_link_options(reprise_whole_program_link INTERFACE -flto=auto -fuse-linker-plugin -Wno-odr)
  add_link_options($<$<NOT:$<BOOL:$<TARGET_PROPERTY:REPRISE_IS_PROGRAM>>>:-fno-lto>)
endif()

if(REPRISE_PROFILE)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/source SYMBOLIC)
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/cmake/profile/relative.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
endif()
if(REPRISE_PROFILE STREQUAL "make")
  # Whatever was counted by an earlier build is of that one.
  file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/counts)
  target_compile_options(reprise_whole_program INTERFACE -fprofile-generate=${CMAKE_BINARY_DIR}/counts -fprofile-update=prefer-atomic)
  target_link_options(reprise_whole_program_link INTERFACE -fprofile-generate)
elseif(REPRISE_PROFILE STREQUAL "use")
  # Another version of GCC writes and reads profiles of its own.
  string(REGEX MATCH "^[0-9]+" compiler ${CMAKE_CXX_COMPILER_VERSION})
  file(READ ${CMAKE_SOURCE_DIR}/cmake/profile/compiler made_by)
  string(STRIP "${made_by}" made_by)
  if(NOT compiler STREQUAL made_by OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    message(STATUS "without the profile: it is of GCC ${made_by} on x86_64, this is ${compiler} on ${CMAKE_SYSTEM_PROCESSOR}")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profile_archive})
  file(SHA256 ${profile_archive} digest)
  # Named by what it holds: with another profile everything is compiled anew.
  string(SUBSTRING ${digest} 0 8 short_digest)
  set(profile ${CMAKE_BINARY_DIR}/profile/${short_digest})
  set(unpacked "")
  if(EXISTS ${profile}/default.profdata)
    file(READ ${profile}/default.profdata unpacked)
  endif()
  if(NOT unpacked STREQUAL digest)
    file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/profile)
    file(ARCHIVE_EXTRACT INPUT ${profile_archive} DESTINATION ${profile})
    # GCC looks for a file's counts by its path from the root, with # for /.
    string(REPLACE "/" "#" here "${CMAKE_BINARY_DIR}/")
    file(GLOB counts RELATIVE ${profile} ${profile}/*.gcda)
    set(sums "")
    foreach(file ${counts})
      file(SHA256 ${profile}/${file} sum)
      string(APPEND sums "${sum}  ${file}\n")
      file(RENAME ${profile}/${file} "${profile}/${here}${file}")
    endforeach()
    # An archive that is cut, and a disk that is full, leave what could be read, and no error.
    string(SHA256 came "${sums}")
    file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/profile/sum wanted)
    if(NOT came STREQUAL wanted)
      message(FATAL_ERROR "${profile_archive} was not unpacked whole into ${profile}: check the file out again, or make room")
    endif()
    # Last, so that half a profile is unpacked again. The name is one that ccache takes for a profile: it caches by what stands in it.
    file(WRITE ${profile}/default.profdata ${digest})
  endif()
  # What was changed since has no counts, or some that do not fit, and what the benchmark does not do was never run: that is compiled as
  # without. partial.specs says so, in a way that ccache takes.
  target_compile_options(reprise_whole_program INTERFACE -fprofile-use=${profile} -fprofile-correction -Wno-missing-profile
                                                         -Wno-coverage-mismatch -specs=${CMAKE_SOURCE_DIR}/cmake/profile/partial.specs)
endif()
