# The Debian package. `cpack` in the build folder packs the files that were built, and compiles nothing.
if(NOT TARGET reprise OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
  return()
endif()
set(REPRISE_MAINTAINER "reprise maintainers <maintainers@reprise.example>" CACHE STRING "maintainer of the Debian package")
set(debian ${CMAKE_BINARY_DIR}/debian)

# The units of deploy/systemd are written for /usr/local.
set(units reprise.service reprise.socket reprise-redirect.service)
foreach(unit ${units})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS deploy/systemd/${unit})
  file(READ deploy/systemd/${unit} text)
  string(REPLACE "/usr/local/bin/" "/usr/bin/" text "${text}")
  file(CONFIGURE OUTPUT ${debian}/${unit} CONTENT "${text}" @ONLY)
endforeach()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS deploy/debian/changelog)
file(READ deploy/debian/changelog REPRISE_DEBIAN_CHANGELOG)
string(REGEX MATCH "^reprise \\(([^-)]+)-([^)]+)\\)" newest "${REPRISE_DEBIAN_CHANGELOG}")
if(NOT CMAKE_MATCH_1 STREQUAL PROJECT_VERSION)
  message(FATAL_ERROR "deploy/debian/changelog begins with version '${CMAKE_MATCH_1}', but the project's version is ${PROJECT_VERSION}: add an entry")
endif()
set(release ${CMAKE_MATCH_2})
# Each release of Debian or Ubuntu has its own package. Its version is higher in a later release: 0.1.0-2~deb12, 0.1.0-2~deb13.
set(suffix "")
set(codename unstable)
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release lines REGEX "^(ID|VERSION_ID|VERSION_CODENAME)=")
  foreach(line ${lines})
    string(REGEX MATCH "^([A-Z_]+)=\"?([^\"]+)" both "${line}")
    set(os_${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  if(os_ID STREQUAL "debian" AND os_VERSION_ID)
    set(suffix "~deb${os_VERSION_ID}")
  elseif(os_VERSION_ID)
    set(suffix "~${os_ID}${os_VERSION_ID}")
  endif()
  if(os_VERSION_CODENAME)
    set(codename ${os_VERSION_CODENAME})
  endif()
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE ${release}${suffix})
string(REPLACE "reprise (${PROJECT_VERSION}-${release}) unstable;" "reprise (${PROJECT_VERSION}-${release}${suffix}) ${codename};"
  REPRISE_DEBIAN_CHANGELOG "${REPRISE_DEBIAN_CHANGELOG}")
file(CONFIGURE OUTPUT ${debian}/changelog CONTENT "${REPRISE_DEBIAN_CHANGELOG}" @ONLY)

# Files that only Debian's package has: the component `debian`, which a plain `cmake --install` leaves out.
find_path(boost_folder boost/version.hpp NO_CACHE REQUIRED)
find_path(cli11_folder CLI/CLI.hpp NO_CACHE REQUIRED)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-Dreprise=${asked_program}\" \"-Dinto=${debian}\"
  \"-Dheaders=${boost_folder}/boost/version.hpp;${cli11_folder}/CLI/CLI.hpp\"
  -P \"${CMAKE_SOURCE_DIR}/cmake/debian_files.cmake\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT debian EXCLUDE_FROM_ALL)
function(debian_file destination)
  install(FILES ${ARGN} DESTINATION ${destination} COMPONENT debian EXCLUDE_FROM_ALL)
endfunction()
foreach(unit ${units})
  debian_file(lib/systemd/system ${debian}/${unit})
endforeach()
debian_file(/etc/reprise deploy/debian/reprise.yaml)
debian_file(share/man/man1 ${debian}/reprise.1.gz)
debian_file(share/man/man5 ${debian}/reprise.yaml.5.gz)
debian_file(share/zsh/vendor-completions ${debian}/_reprise)
debian_file(share/doc/reprise deploy/debian/copyright ${debian}/changelog.gz ${debian}/changelog.Debian.gz ${debian}/compiled-in)
install(FILES deploy/debian/lintian-overrides DESTINATION share/lintian/overrides RENAME reprise COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_SET_DESTDIR ON)   # /etc is not below the prefix
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "${CMAKE_BINARY_DIR};reprise;Unspecified;/;${CMAKE_BINARY_DIR};reprise;debian;/")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/cmake/package_modes.cmake)
set(CPACK_PACKAGE_NAME reprise)
set(CPACK_PACKAGE_CONTACT "${REPRISE_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(CMAKE_CROSSCOMPILING)
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE ${REPRISE_DEBIAN_ARCHITECTURE})
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "nftables | iptables")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "retries for applications that cannot retry")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "A local HTTP proxy for one application. If an upstream fails, reprise sends
the request again, but only where this is safe, with jittered exponential
backoff and within a deadline. It records a reason for every retry and for
every retry that it refused.

By default, the service listens on 127.0.0.1:3128, and on 127.0.0.1:3129 for
metrics; /etc/reprise/reprise.yaml changes this. It serves only applications
that are configured to use it, for instance with http_proxy.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/deploy/debian/conffiles ${CMAKE_SOURCE_DIR}/deploy/debian/postinst
  ${CMAKE_SOURCE_DIR}/deploy/debian/prerm ${CMAKE_SOURCE_DIR}/deploy/debian/postrm)
include(CPack)
