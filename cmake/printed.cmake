# A script that runs during the installation: makes the program print its manual pages and completions, and writes them into the folder
# `into`. `reprise`: the program, after an emulator if it is for another machine.
cmake_minimum_required(VERSION 3.25)
file(MAKE_DIRECTORY "${into}")
foreach(asked "man:reprise.1" "man reprise.yaml:reprise.yaml.5" "completion bash:reprise.bash" "completion zsh:_reprise" "completion fish:reprise.fish")
  string(REGEX MATCH "^(.+):(.+)$" both "${asked}")
  set(file "${into}/${CMAKE_MATCH_2}")
  separate_arguments(words UNIX_COMMAND "${CMAKE_MATCH_1}")
  execute_process(COMMAND ${reprise} ${words} OUTPUT_FILE "${file}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
