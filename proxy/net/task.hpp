// The coroutine type of the net floor, and how its I/O calls report: a tuple, never an exception.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <tuple>

namespace reprise::net {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;

template <typename T>
using Task = asio::awaitable<T>;

inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// What a read comes to: error and bytes.
using ReadTask = Task<std::tuple<ErrorCode, std::size_t>>;

}  // namespace reprise::net
