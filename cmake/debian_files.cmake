# A script that CPack runs: writes three kinds of files into the folder `into`: the manual pages and completions that the program (`reprise`)
# prints, the compressed files that Debian requires, and the list of the libraries that were compiled in.
include(${CMAKE_CURRENT_LIST_DIR}/printed.cmake)
set(source ${CMAKE_CURRENT_LIST_DIR}/..)
foreach(pair "${into}/reprise.1|reprise.1.gz" "${into}/reprise.yaml.5|reprise.yaml.5.gz" "${source}/CHANGELOG.md|changelog.gz" "${into}/changelog|changelog.Debian.gz")
  string(REGEX MATCH "^(.+)\\|(.+)$" both "${pair}")
  # -n: without name and time, so that the result is reproducible.
  execute_process(COMMAND gzip -9nc "${CMAKE_MATCH_1}" OUTPUT_FILE "${into}/${CMAKE_MATCH_2}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
# Source package and version of each header-only library, because no dependency of the package names them. `headers`: one file of each.
foreach(header ${headers})
  file(REAL_PATH "${header}" header)
  execute_process(COMMAND dpkg-query -S "${header}" OUTPUT_VARIABLE owner COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^:,]+" package "${owner}")
  execute_process(COMMAND dpkg-query -W -f "\${source:Package} \${source:Version}\n" "${package}" OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "^[^\n]+\n" line "${lines}")
  string(APPEND compiled_in "${line}")
endforeach()
file(WRITE "${into}/compiled-in" "${compiled_in}")
