# What `cmake --install` puts where; a packager moves it with GNUInstallDirs' CMAKE_INSTALL_* variables.
include(GNUInstallDirs)
if(TARGET reprise)
  install(TARGETS reprise RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES README.md CHANGELOG.md LICENSE SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES config/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/config)
install(DIRECTORY config/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/config)
install(FILES config/schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/reprise)
