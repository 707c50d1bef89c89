// The coroutine type of the rooms above the sockets, and
// how its I/O calls report: a tuple, never an exception.
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

/// Ends a coroutine that nobody awaits. An exception in it is a bug, or memory that is not to be had: the
/// process aborts at once, because others hold on to what its frame held (row I7).
inline constexpr auto or_abort = [](const std::exception_ptr& failure) noexcept {
  if (failure) std::rethrow_exception(failure);
};

/// What a read comes to: error and bytes.
using ReadTask = Task<std::tuple<ErrorCode, std::size_t>>;

}  // namespace reprise
