#include "proxy/net/resolve/library_names.hpp"

#include <netdb.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace reprise::net {

// The state that LibraryNames shares with its threads, because a hanging thread may outlive LibraryNames.
struct LibraryNames::State {
  std::mutex mutex;
  std::condition_variable work;
  std::deque<Resolver::Question> queue;
  Ask ask;
  bool stopping = false;
  unsigned threads = 0;
  unsigned idle_threads = 0;  ///< threads that wait for work

  void run();
};

LibraryNames::LibraryNames(Ask ask) : state_(std::make_shared<State>()) { state_->ask = std::move(ask); }

LibraryNames::~LibraryNames() {
  const std::scoped_lock lock(state_->mutex);
  state_->stopping = true;
  state_->queue.clear();
  state_->work.notify_all();
}

void LibraryNames::resolve(Resolver::Question question) {
  {
    const std::scoped_lock lock(state_->mutex);
    State& state = *state_;
    const bool short_of_threads = state.queue.size() >= state.idle_threads && state.threads < most_threads;
    if (short_of_threads) {
      try {
        std::thread([own = state_] { own->run(); }).detach();
        ++state.threads;
        ++state.idle_threads;
      } catch (const std::system_error&) {
        // No thread could be started, so the question waits for an existing thread.
      }
    }
    if (state.threads > 0 && state.queue.size() < most_waiting) {
      state.queue.push_back(std::move(question));
      state.work.notify_one();
      return;
    }
  }
  question.complete({});
}

void LibraryNames::State::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    work.wait(lock, [this] { return stopping || !queue.empty(); });
    if (stopping) return;
    const Resolver::Question question = std::move(queue.front());
    queue.pop_front();
    --idle_threads;
    lock.unlock();
    if (!question.is_given_up()) question.complete(ask(question.name()));
    lock.lock();
    if (stopping) return;
    ++idle_threads;
  }
}

Found ask_library(const std::string& name, bool numbers_only) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = numbers_only ? AI_NUMERICHOST : 0;
  addrinfo* list = nullptr;
  Found found;
  const int failure = ::getaddrinfo(name.c_str(), nullptr, &wanted, &list);
  found.is_unknown = failure == EAI_NONAME;
  if (failure != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owned(list, &::freeaddrinfo);
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    tcp::endpoint endpoint;
    if (entry->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), entry->ai_addr, entry->ai_addrlen);
    endpoint.resize(entry->ai_addrlen);
    if (std::find(found.list.begin(), found.list.end(), endpoint.address()) == found.list.end())
      found.list.push_back(endpoint.address());
  }
  return found;
}

}  // namespace reprise::net
