// The coroutine type of all code above the sockets. I/O calls return tuples and never throw.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <exception>
#include <tuple>

namespace reprise {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

template <typename T>
using Task = asio::awaitable<T>;

inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// Completion handler for a detached coroutine. An exception that leaves the coroutine is a bug or a lack of
/// memory. The process then aborts at once, because other code may refer to the coroutine's frame (row I7).
inline constexpr auto or_abort = [](const std::exception_ptr& failure) noexcept {
  if (failure) std::rethrow_exception(failure);
};

/// Result of a read: error and number of bytes.
using ReadTask = Task<std::tuple<ErrorCode, std::size_t>>;

}  // namespace reprise
