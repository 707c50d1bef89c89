# Optimizes the shipped program as a whole: at link time, and with a profile of the benchmark.
#
# The objects of the rooms contain machine code and the linker's intermediate code. Tests link the machine code, which takes seconds; the
# program is made from the intermediate code. cmake/profile/README.md says how the profile is made.
option(REPRISE_LTO "optimize the program at link time; GCC only" OFF)
set(REPRISE_PROFILE "" CACHE STRING "use: compile with the profile in cmake/profile; make: count, for a new profile; GCC only")
set(profile_archive ${CMAKE_SOURCE_DIR}/cmake/profile/release.tar.xz)

add_library(reprise_whole_program INTERFACE)   # options of the libraries that the program links
add_library(reprise_whole_program_link INTERFACE)   # options of the program

# reprise_in_program_alone(TARGET): a library that no test links. Its objects contain no machine code, which takes half the time.
function(reprise_in_program_alone target)
  set_target_properties(${target} PROPERTIES REPRISE_IN_PROGRAM_ALONE ON)
endfunction()

if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  return()
endif()
if(REPRISE_LTO)
  # ar lists the symbols of an object without machine code only if it finds GCC's plugin. gcc-ar always finds it; a cross ar does not.
  if(CMAKE_CXX_COMPILER_AR AND CMAKE_CXX_COMPILER_RANLIB)
    set(CMAKE_AR ${CMAKE_CXX_COMPILER_AR})
    set(CMAKE_RANLIB ${CMAKE_CXX_COMPILER_RANLIB})
  endif()
  target_compile_options(reprise_whole_program INTERFACE
    -flto $<IF:$<BOOL:$<TARGET_PROPERTY:REPRISE_IN_PROGRAM_ALONE>>,-fno-fat-lto-objects,-ffat-lto-objects>)
  # -Wno-odr: GCC 12 gives the frame of an inline coroutine another name in each file, and reports them as different definitions.
  target_link_options(reprise_whole_program_link INTERFACE -flto=auto -fuse-linker-plugin -Wno-odr)
  add_link_options($<$<NOT:$<BOOL:$<TARGET_PROPERTY:REPRISE_IS_PROGRAM>>>:-fno-lto>)
endif()

if(REPRISE_PROFILE)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/source SYMBOLIC)
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/cmake/profile/relative.sh ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
endif()
if(REPRISE_PROFILE STREQUAL "make")
  # Counts of an earlier build do not fit this one.
  file(REMOVE_RECURSE ${CMAKE_BINARY_DIR}/counts)
  target_compile_options(reprise_whole_program INTERFACE -fprofile-generate=${CMAKE_BINARY_DIR}/counts -fprofile-update=prefer-atomic)
  target_link_options(reprise_whole_program_link INTERFACE -fprofile-generate)
elseif(REPRISE_PROFILE STREQUAL "use")
  # Each version of GCC has its own format of profiles.
  string(REGEX MATCH "^[0-9]+" compiler ${CMAKE_CXX_COMPILER_VERSION})
  file(READ ${CMAKE_SOURCE_DIR}/cmake/profile/compiler made_by)
  string(STRIP "${made_by}" made_by)
  if(NOT compiler STREQUAL made_by OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    message(STATUS "the profile is not used: it was made with GCC ${made_by} on x86_64, and this is GCC ${compiler} on ${CMAKE_SYSTEM_PROCESSOR}")
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${profile_archive})
  file(SHA256 ${profile_archive} digest)
  # The folder's name depends on the profile's content, so that a new profile compiles everything again.
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
    # Extracting from a truncated archive, or to a full disk, reports no error.
    string(SHA256 came "${sums}")
    file(STRINGS ${CMAKE_SOURCE_DIR}/cmake/profile/sum wanted)
    if(NOT came STREQUAL wanted)
      message(FATAL_ERROR "${profile_archive} was not unpacked completely into ${profile}: check the file out again, or free disk space")
    endif()
    # Written last, so that an incomplete profile is unpacked again. ccache recognises this name as a profile and hashes its content.
    file(WRITE ${profile}/default.profdata ${digest})
  endif()
  # Functions that have changed since, or that the benchmark does not run, have no counts. They are compiled as without a profile:
  # partial.specs has the option for that, in a form that ccache accepts.
  target_compile_options(reprise_whole_program INTERFACE -fprofile-use=${profile} -fprofile-correction -Wno-missing-profile
                                                         -Wno-coverage-mismatch -specs=${CMAKE_SOURCE_DIR}/cmake/profile/partial.specs)
endif()
