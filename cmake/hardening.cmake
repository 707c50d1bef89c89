# What the compiler and the linker do against the exploitation of a mistake. hardening-check reads it back from the program (group hardening of tests/run.sh).
#
# Builds with sanitizers have checks of their own, and those for debugging (-O0, -Og) are never shipped: both are left alone but
# for the library's own checks.
add_compile_definitions(_GLIBCXX_ASSERTIONS)   # an index or an iterator out of bounds ends the program
if(REPRISE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  return()
endif()

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

# Every library here is linked into a program, none into a shared object: -fPIC, which CMake would give them, costs more than -fPIE.
add_compile_options(-fPIE)
add_link_options(-pie)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "REPRISE_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options(${flag})
  endif()
endforeach()

# Without optimization the C library only warns of it.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("#include <cstdio>\n#if __USE_FORTIFY_LEVEL < 3\n#error\n#endif\nint main() {}" REPRISE_HAS_FORTIFY_3)
  unset(CMAKE_REQUIRED_FLAGS)
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$<IF:$<BOOL:${REPRISE_HAS_FORTIFY_3}>,3,2>)
endif()

foreach(flag relro now noexecstack separate-code)
  check_linker_flag(CXX -Wl,-z,${flag} REPRISE_HAS_z_${flag})
  if(REPRISE_HAS_z_${flag})
    add_link_options(-Wl,-z,${flag})
  endif()
endforeach()
