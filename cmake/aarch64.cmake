# Toolchain file to build for arm64 on another machine, with GCC's cross compiler and the libraries of arm64 (dpkg --add-architecture
# arm64). The program's manual pages and completions are printed through qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_OBJCOPY aarch64-linux-gnu-objcopy)
find_program(qemu_aarch64 NAMES qemu-aarch64-static qemu-aarch64)
if(qemu_aarch64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${qemu_aarch64})
endif()
set(REPRISE_DEBIAN_ARCHITECTURE arm64)
# Headers and libraries are in the usual folders of a foreign architecture; programs are this machine's.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
