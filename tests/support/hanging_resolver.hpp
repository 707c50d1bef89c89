// A resolver that answers nothing for as long as it is there.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proxy/net/resolver.hpp"

namespace reprise::play {

/// To be made before the proxy that asks it, and so to go after it.
class HangingResolver {
 public:
  HangingResolver() = default;
  ~HangingResolver() {
    const std::scoped_lock lock(state_->mutex);
    state_->over = true;
    state_->changed.notify_all();
  }
  HangingResolver(const HangingResolver&) = delete;
  HangingResolver& operator=(const HangingResolver&) = delete;

  net::Resolver::Query query() const {
    return [state = state_](const std::string&) {
      std::unique_lock lock(state->mutex);
      state->changed.wait(lock, [&] { return state->over; });
      return std::vector<boost::asio::ip::address>();
    };
  }

 private:
  // Outlives this: the thread that asks may wake up late.
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace reprise::play
