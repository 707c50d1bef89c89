#include "proxy/net/resolve/name_sources.hpp"

#include <algorithm>
#include <charconv>

namespace reprise::net {
namespace {

constexpr std::string_view blanks = " \t\r";

/// Returns the words of a line. Skips a comment that begins with `#`.
std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

template <typename Visit>
void each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(words_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void add_source(HostsLine& line, std::string_view source) {
  const auto add = [&](char which) {
    if (line.order.find(which) == std::string::npos) line.order.push_back(which);
  };
  if (source == "files") {
    add('f');
  } else if (source == "dns") {
    add('b');
  } else if (source == "myhostname") {
    line.myhostname = true;
  } else {
    if (source == "resolve") add('b');
    line.others = true;
  }
}

HostsLine read_sources(const std::vector<std::string_view>& words) {
  HostsLine line;
  line.order.clear();
  bool in_action = false;
  for (std::size_t i = 1; i < words.size(); ++i) {
    in_action = in_action || words[i].starts_with('[');
    if (!in_action) add_source(line, words[i]);
    if (words[i].ends_with(']')) in_action = false;
  }
  return line;
}

void read_option(LookupOptions& lookup_options, std::string_view word) {
  const auto number_behind = [&](std::string_view key, int most) {
    int number = 0;
    if (word.starts_with(key)) std::from_chars(word.data() + key.size(), word.data() + word.size(), number);
    return std::min(number, most);
  };
  if (const int timeout = number_behind("timeout:", 30); timeout > 0)
    lookup_options.first = std::chrono::seconds(timeout);
  if (const int rounds = number_behind("attempts:", 5); rounds > 0) lookup_options.rounds = rounds;
  lookup_options.over_tcp = lookup_options.over_tcp || word == "use-vc";
  lookup_options.ipv4_only = lookup_options.ipv4_only || word == "no-aaaa";
}

}  // namespace

HostsLine read_hosts_line(std::string_view text) {
  HostsLine line;
  each_line(text, [&](const std::vector<std::string_view>& words) {
    if (!words.empty() && words.front() == "hosts:") line = read_sources(words);
  });
  return line;
}

bool is_for_others(const HostsLine& line, std::string_view name, std::string_view own_name) {
  if (line.others) return true;
  return line.myhostname && (name == own_name || name == "_gateway" || name == "_outbound");
}

LookupOptions read_lookup_options(std::string_view text, std::string_view environment) {
  LookupOptions lookup_options;
  std::size_t servers = 0;
  each_line(text, [&](const std::vector<std::string_view>& words) {
    if (words.empty()) return;
    if (words.front() == "nameserver") lookup_options.one_server = ++servers <= 1;
    if (words.front() != "options") return;
    for (const std::string_view word : words) read_option(lookup_options, word);
  });
  for (const std::string_view word : words_of(environment)) read_option(lookup_options, word);
  return lookup_options;
}

std::vector<std::string> names_to_ask(std::string_view name, const std::vector<std::string>& domains,
                                      int ndots) {
  std::vector<std::string> names;
  const auto add = [&](std::string candidate) {
    if (std::find(names.begin(), names.end(), candidate) == names.end())
      names.push_back(std::move(candidate));
  };
  const bool is_absolute = name.ends_with('.');
  const bool as_it_is_first = is_absolute || std::count(name.begin(), name.end(), '.') >= ndots;
  if (as_it_is_first) add(std::string(name));
  if (is_absolute) return names;
  for (std::string_view domain : domains) {
    while (domain.ends_with('.')) domain.remove_suffix(1);
    add(domain.empty() ? std::string(name) : std::string(name).append(".").append(domain));
  }
  add(std::string(name));
  return names;
}

}  // namespace reprise::net
