# reprise_split_debug(TARGET): moves the debug information to TARGET.debug beside the program. The program itself is stripped and names
# that file.
function(reprise_split_debug target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR NOT CMAKE_OBJCOPY)
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,--build-id)
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${target}> ${CMAKE_BINARY_DIR}/${target}.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=${CMAKE_BINARY_DIR}/${target}.debug $<TARGET_FILE:${target}>
    BYPRODUCTS ${CMAKE_BINARY_DIR}/${target}.debug VERBATIM)
endfunction()
