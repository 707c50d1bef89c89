# The files of `cmake --install`. Packagers choose the folders with the CMAKE_INSTALL_* variables of GNUInstallDirs. Files that have another
# name in Debian's package are in the component `upstream`; package.cmake installs them under Debian's names.
include(GNUInstallDirs)
if(TARGET reprise)
  install(TARGETS reprise RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES README.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT upstream)
install(FILES config/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/config)
install(DIRECTORY config/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}/config)
install(FILES config/schema.json deploy/prometheus/alerts.yaml deploy/grafana/reprise.json DESTINATION ${CMAKE_INSTALL_DATADIR}/reprise)

# Manual pages and completions, which the program prints. A program for another machine runs in an emulator.
set(asked_program "$<TARGET_FILE:reprise>")
if(CMAKE_CROSSCOMPILING)
  set(asked_program "${CMAKE_CROSSCOMPILING_EMULATOR};${asked_program}")
endif()
if(TARGET reprise AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  set(printed ${CMAKE_BINARY_DIR}/printed)
  install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-Dreprise=${asked_program}\" \"-Dinto=${printed}\"
    -P \"${CMAKE_SOURCE_DIR}/cmake/printed.cmake\" COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${printed}/reprise.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME reprise)
  install(FILES ${printed}/reprise.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  install(FILES ${printed}/_reprise DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT upstream)
  install(FILES ${printed}/reprise.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT upstream)
  install(FILES ${printed}/reprise.yaml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT upstream)
endif()
