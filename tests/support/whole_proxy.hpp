// Common includes and names for tests of the whole proxy: a scripted upstream, raw clients, a running proxy.
#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/running_proxy.hpp"
#include "tests/support/scripted_upstream.hpp"
#include "tests/support/some_limit.hpp"

namespace reprise::server {

using play::Heard;
using play::Peer;
using play::RawClient;
using play::response;
using play::RunningProxy;
using play::ScriptedUpstream;
using play::Wire;
using play::WireResponse;
using play::Wishes;
using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace reprise::server
