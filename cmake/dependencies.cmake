# The libraries, all from Debian packages. Asio, Beast and Boost.JSON are header-only and slow to compile, so each is compiled once, here.
find_package(Threads REQUIRED)
find_package(Boost 1.81 CONFIG REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(prometheus-cpp REQUIRED COMPONENTS core)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
# Debian's packages of c-ares and nghttp2 contain no CMake files.
find_path(CARES_INCLUDE ares.h REQUIRED)
find_library(CARES_LIBRARY cares REQUIRED)
find_path(NGHTTP2_INCLUDE nghttp2/nghttp2.h REQUIRED)
find_library(NGHTTP2_LIBRARY nghttp2 REQUIRED)

add_library(reprise_asio STATIC ${CMAKE_SOURCE_DIR}/cmake/asio_beast.cpp)
target_link_libraries(reprise_asio PUBLIC Boost::headers OpenSSL::SSL OpenSSL::Crypto Threads::Threads PRIVATE reprise_whole_program)
# Asio's cache keeps as many coroutine frames per thread as a session has nested coroutines (the default is 2). Other frames come from
# operator new, whose small blocks are cheaper than those of aligned_alloc.
target_compile_definitions(reprise_asio PUBLIC
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_BEAST_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED
  BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=12
  BOOST_ASIO_DISABLE_STD_ALIGNED_ALLOC BOOST_ASIO_DISABLE_BOOST_ALIGN)

# Instrumented for fuzzing, because a fuzz target parses JSON with it.
add_library(reprise_boost_json STATIC ${CMAKE_SOURCE_DIR}/cmake/boost_json.cpp)
target_link_libraries(reprise_boost_json PUBLIC Boost::headers PRIVATE reprise_whole_program)
target_compile_options(reprise_boost_json PRIVATE ${reprise_guide_words})
