#include "proxy/net/resolve/name_service.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "proxy/net/io/descriptors.hpp"

namespace reprise::net {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds look_every = std::chrono::seconds(1);

int open_eventfd() {
  const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  return descriptor;
}

// Returns the content of a file; empty if the file cannot be read, none if no descriptor is left.
std::optional<std::string> text_of(const std::string& path) {
  errno = 0;
  const std::ifstream file(path);
  if (!file && is_out_of_descriptors(errno)) return std::nullopt;
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

std::string own_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return ::gethostname(name, HOST_NAME_MAX) == 0 ? std::string(name) : std::string();
}

// Returns true if no descriptor is free. In that case /etc/hosts cannot be read, and DNS alone might give a
// wrong result (row I6).
bool is_short_of_descriptors() {
  const int probe = ::open("/", O_PATH | O_CLOEXEC);
  if (probe < 0) return is_out_of_descriptors(errno);
  ::close(probe);
  return false;
}

}  // namespace

/// The progress of the lookup of one name: which sources and which names have not been queried yet.
struct NameService::Search {
  Resolver::Question question;
  std::string order;               ///< sources not asked yet
  std::vector<std::string> names;  ///< names to ask DNS for
  std::size_t next = 0;
  bool is_unknown = true;  ///< true while every source so far has reported that the name does not exist
};

NameService::NameService(NameFiles files, LibraryNames::Ask library)
    : files_(std::move(files)), library_(std::move(library)), wake_(open_eventfd()) {
  read_files();
  thread_ = std::thread([this] { run(); });
}

NameService::~NameService() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  ::eventfd_write(wake_, 1);
  thread_.join();
  ::close(wake_);
}

void NameService::ask(Resolver::Question question) {
  {
    const std::scoped_lock lock(mutex_);
    asked_.push_back(std::move(question));
  }
  ::eventfd_write(wake_, 1);
}

void NameService::run() {
  for (;;) {
    for (Resolver::Question& question : wait()) begin(std::move(question));
    // Iterates by index, because a question that goes on to its next name may add a channel, which would
    // invalidate iterators.
    for (std::size_t i = 0, polled = channels_.size(); i < polled; ++i) channels_[i]->turn(polled_);
    close_channels();
    look_at_files();
    const std::scoped_lock lock(mutex_);
    if (stopping_) break;
  }
  channels_.clear();
}

// Waits until a socket is ready, a timeout has passed, or a question arrives. Returns the new questions.
std::vector<Resolver::Question> NameService::wait() {
  polled_.assign(1, {wake_, POLLIN, 0});
  for (const auto& channel : channels_) channel->add_sockets_to(polled_);
  ::poll(polled_.data(), polled_.size(), again_.empty() ? quiet_milliseconds() : 0);
  eventfd_t wakes = 0;
  ::eventfd_read(wake_, &wakes);
  std::vector<Resolver::Question> asked = std::exchange(again_, {});
  const std::scoped_lock lock(mutex_);
  asked.insert(asked.end(), asked_.begin(), asked_.end());
  asked_.clear();
  return asked;
}

int NameService::quiet_milliseconds() const {
  std::optional<milliseconds> quiet;
  for (const auto& channel : channels_) {
    if (channel->under_way() == 0) continue;
    const milliseconds own = channel->quiet().value_or(look_every);
    quiet = std::min({quiet.value_or(own), own, look_every});
  }
  return quiet ? static_cast<int>(quiet->count()) : -1;
}

// Closes a superseded channel once its last question has ended. If there are more than `most_channels`,
// closes the oldest channels and ends their questions.
void NameService::close_channels() {
  while (channels_.size() > most_channels) {
    const std::unique_ptr<DnsChannel> oldest = std::move(channels_.front());
    channels_.pop_front();
  }
  const DnsChannel* newest = channels_.empty() ? nullptr : channels_.back().get();
  std::erase_if(channels_, [&](const auto& each) { return each.get() != newest && each->under_way() == 0; });
}

NameService::Stamp NameService::stamp_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
          found.st_mtim.tv_sec * std::int64_t{1'000'000'000} + found.st_mtim.tv_nsec};
}

void NameService::look_at_files() {
  const Instant now = Tick::now();
  if (now < looked_at_ + look_every) return;
  looked_at_ = now;
  if (stamp_of(files_.resolv) == resolv_stamp_ && stamp_of(files_.sources) == sources_stamp_) return;
  if (!read_files()) return;
  // The name servers may have been replaced because the old ones hang, so pending questions are asked again.
  reloading_ = true;
  std::exchange(channels_, {}).clear();
  reloading_ = false;
}

bool NameService::read_files() {
  const Stamp resolv = stamp_of(files_.resolv), sources = stamp_of(files_.sources);
  const auto resolv_text = text_of(files_.resolv), sources_text = text_of(files_.sources);
  // The stored stamps (inode, size and modification time) stay unchanged, so the next check reads the files
  // again.
  if (!resolv_text || !sources_text) return false;
  const char* environment = ::getenv("RES_OPTIONS");
  sources_ = read_hosts_line(*sources_text);
  lookup_options_ = read_lookup_options(*resolv_text, environment == nullptr ? "" : environment);
  resolv_stamp_ = resolv;
  sources_stamp_ = sources;
  hosts_.reset();
  return true;
}

DnsChannel* NameService::channel() {
  if (channels_.empty() || channels_.back()->taken() >= questions_of_a_channel) {
    // The first timeout differs between channels, so that hanging questions are not repeated all at once.
    // Such a burst would overflow a server's receive buffer and lose other questions.
    LookupOptions lookup_options = lookup_options_;
    lookup_options.first += lookup_options.first / 32 * static_cast<int>(opened_++ % 16);
    auto fresh = DnsChannel::open(files_, lookup_options, 'b');
    if (fresh == nullptr) return nullptr;
    channels_.push_back(std::move(fresh));
  }
  return channels_.back().get();
}

void NameService::begin(Resolver::Question question) {
  look_at_files();
  if (is_short_of_descriptors()) return question.complete({});
  if (const Found number = ask_library(question.name(), true); !number.list.empty())
    return question.complete(number);
  auto search = std::make_shared<Search>(Search{std::move(question), sources_.order, {}, 0});
  go_on(search);
}

// Asks the next source, because the previous sources did not know the name.
void NameService::go_on(const std::shared_ptr<Search>& search) {
  if (search->order.empty()) return end_unknown(*search);
  const char source = search->order.front();
  search->order.erase(0, 1);
  const auto done = [this, search](DnsChannel::End end, const Found& found) { take(search, end, found); };
  if (source == 'f') {
    if (hosts_ == nullptr) hosts_ = DnsChannel::open(files_, lookup_options_, 'f');
    if (hosts_ == nullptr) return search->question.complete({});
    return hosts_->ask(search->question.name(), done);
  }
  const DnsChannel* open = channel();
  if (open == nullptr) return search->question.complete({});
  search->names = names_to_ask(search->question.name(), open->domains(), open->ndots());
  ask_dns(search);
}

void NameService::ask_dns(const std::shared_ptr<Search>& search) {
  DnsChannel* open = channel();
  if (open == nullptr) return search->question.complete({});
  const std::string name = search->names[search->next++];
  open->ask(name, [this, search](DnsChannel::End end, const Found& found) { take(search, end, found); });
}

void NameService::take(const std::shared_ptr<Search>& search, DnsChannel::End end, const Found& found) {
  switch (end) {
    case DnsChannel::End::found: return search->question.complete(found);
    case DnsChannel::End::timed_out: return search->question.complete({});
    case DnsChannel::End::failed: search->is_unknown = false; return end_unknown(*search);
    case DnsChannel::End::abandoned:
      if (reloading_) return again_.push_back(search->question);
      return search->question.complete({});
    case DnsChannel::End::unknown: break;
  }
  search->is_unknown = search->is_unknown && found.is_unknown;
  if (search->next < search->names.size()) return ask_dns(search);
  go_on(search);
}

void NameService::end_unknown(const Search& search) {
  if (is_for_others(sources_, search.question.name(), own_name())) return library_.resolve(search.question);
  Found nothing;
  nothing.is_unknown = search.is_unknown;
  search.question.complete(nothing);
}

}  // namespace reprise::net
