# Options of the compiler and the linker that make a defect harder to exploit. The group hardening of tests/run.sh checks them in the
# program with hardening-check.
#
# Builds with sanitizers have checks of their own, and debug builds (-O0, -Og) are never shipped: both get only the checks of the library.
add_compile_definitions(_GLIBCXX_ASSERTIONS)   # an index out of bounds ends the program
if(REPRISE_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  return()
endif()

include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)

# All libraries are linked into programs, none into a shared object. So -fPIE is enough; -fPIC, CMake's choice, costs more.
add_compile_options(-fPIE)
add_link_options(-pie)

foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -mbranch-protection=standard)
  string(MAKE_C_IDENTIFIER "REPRISE_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    add_compile_options(${flag})
  endif()
endforeach()

# Without optimization, the C library does not support it and warns.
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
