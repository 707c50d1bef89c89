// What a resolver asks, invented: answers by name, and names that hang.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "proxy/net/resolver.hpp"

namespace reprise::play {

/// Answers by name; names can be held back until they are let go, or this is gone.
class Names {
 public:
  using Found = std::vector<boost::asio::ip::address>;

  Names() = default;
  ~Names() {
    const std::scoped_lock lock(state_->mutex);
    state_->held_back.clear();
    state_->changed.notify_all();
  }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  /// Shared with the threads of a resolver that may outlive the test.
  net::Resolver::Query query() const {
    return [state = state_](const std::string& name) {
      std::unique_lock lock(state->mutex);
      ++state->asked[name];
      state->changed.notify_all();
      state->changed.wait(lock, [&] { return state->held_back.count(name) == 0; });
      const auto known = state->answers.find(name);
      return known == state->answers.end() ? Found{} : known->second;
    };
  }
  void set(const std::string& name, Found answer) {
    const std::scoped_lock lock(state_->mutex);
    state_->answers[name] = std::move(answer);
  }
  void hold_back(const std::string& name) {
    const std::scoped_lock lock(state_->mutex);
    state_->held_back[name] = true;
  }
  void let_go(const std::string& name) {
    const std::scoped_lock lock(state_->mutex);
    state_->held_back.erase(name);
    state_->changed.notify_all();
  }
  int asked(const std::string& name) {
    const std::scoped_lock lock(state_->mutex);
    return state_->asked[name];
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, Found> answers;
    std::map<std::string, bool> held_back;
    std::map<std::string, int> asked;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace reprise::play
