# A script, run while packing: what the program (`reprise`) prints of itself, what Debian wants compressed, and what was compiled in, in the
# folder `into`.
include(${CMAKE_CURRENT_LIST_DIR}/printed.cmake)
set(source ${CMAKE_CURRENT_LIST_DIR}/..)
foreach(pair "${into}/reprise.1|reprise.1.gz" "${source}/CHANGELOG.md|changelog.gz" "${source}/deploy/debian/changelog|changelog.Debian.gz")
  string(REGEX MATCH "^(.+)\\|(.+)$" both "${pair}")
  # Without name and time: the same bytes every time.
  execute_process(COMMAND gzip -9nc "${CMAKE_MATCH_1}" OUTPUT_FILE "${into}/${CMAKE_MATCH_2}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Source package and version of each library whose code is in the program itself: no dependency tells it.
execute_process(COMMAND dpkg-query -W -f "\${source:Package} \${source:Version}\n" libboost1.81-dev libcli11-dev
  OUTPUT_FILE "${into}/compiled-in" COMMAND_ERROR_IS_FATAL ANY)
