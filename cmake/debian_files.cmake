# A script, run while packing: what the program (`reprise`) prints of itself, what Debian wants compressed, and what was compiled in, in the
# folder `into`.
include(${CMAKE_CURRENT_LIST_DIR}/printed.cmake)
set(source ${CMAKE_CURRENT_LIST_DIR}/..)
foreach(pair "${into}/reprise.1|reprise.1.gz" "${into}/reprise.yaml.5|reprise.yaml.5.gz" "${source}/CHANGELOG.md|changelog.gz" "${into}/changelog|changelog.Debian.gz")
  string(REGEX MATCH "^(.+)\\|(.+)$" both "${pair}")
  # Without name and time: the same bytes every time.
  execute_process(COMMAND gzip -9nc "${CMAKE_MATCH_1}" OUTPUT_FILE "${into}/${CMAKE_MATCH_2}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Source package and version of each library whose code is in the program itself: no dependency tells it. `headers` are files of them.
foreach(header ${headers})
  file(REAL_PATH "${header}" header)
  execute_process(COMMAND dpkg-query -S "${header}" OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^:,]+" package "${owner}")
  execute_process(COMMAND dpkg-query -W -f "\${source:Package} \${source:Version}\n" "${package}" OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^\n]+\n" line "${lines}")
  string(APPEND compiled_in "${line}")
endforeach()
file(WRITE "${into}/compiled-in" "${compiled_in}")
