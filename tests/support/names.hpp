// A fake lookup service for the resolver: fixed results by name, and names that hang.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "proxy/net/resolve/resolver.hpp"

namespace reprise::play {

/// Returns results by name. A name that was never set does not exist. Lookups can be held back until they are
/// released.
class Names {
 public:
  using Found = std::vector<boost::asio::ip::address>;

  Names() = default;
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  /// The returned function may outlive this object.
  net::Resolver::Query query() const {
    return [state = state_](net::Resolver::Question question) {
      {
        const std::scoped_lock lock(state->mutex);
        ++state->asked[question.name()];
        const auto held = state->held_back.find(question.name());
        if (held != state->held_back.end()) return held->second.push_back(std::move(question));
      }
      state->response(question);
    };
  }
  /// Sets the result of lookups of the name. `keep`: its TTL.
  void set(const std::string& name, Found response, Duration keep = Duration::max()) {
    const std::scoped_lock lock(state_->mutex);
    state_->responses[name] = {std::move(response), keep};
  }
  /// Makes the next `times` lookups of the name fail.
  void fail(const std::string& name, int times) {
    const std::scoped_lock lock(state_->mutex);
    state_->failures[name] = times;
  }
  void hold_back(const std::string& name) {
    const std::scoped_lock lock(state_->mutex);
    state_->held_back[name];
  }
  void let_go(const std::string& name) {
    std::vector<net::Resolver::Question> waiting;
    {
      const std::scoped_lock lock(state_->mutex);
      waiting = std::move(state_->held_back[name]);
      state_->held_back.erase(name);
    }
    for (const auto& question : waiting) state_->response(question);
  }
  int asked(const std::string& name) {
    const std::scoped_lock lock(state_->mutex);
    return state_->asked[name];
  }

 private:
  struct State {
    std::mutex mutex;
    std::map<std::string, net::Found> responses;
    std::map<std::string, std::vector<net::Resolver::Question>> held_back;
    std::map<std::string, int> asked;
    std::map<std::string, int> failures;

    void response(const net::Resolver::Question& question) {
      net::Found found;
      {
        const std::scoped_lock lock(mutex);
        const auto known = responses.find(question.name());
        found.is_unknown = known == responses.end();
        if (!found.is_unknown && failures[question.name()]-- <= 0) found = known->second;
      }
      question.complete(found);
    }
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace reprise::play
