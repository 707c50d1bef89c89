// Searches a held JSON body in one pass of Boost.JSON's event parser.
#include "proxy/http/body_rules/json_probe.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <string>
#include <vector>

namespace reprise::http {
namespace {

namespace json = boost::json;

/// Follows the wanted path through nested objects. Records whether the value at the end of the path matches;
/// if several values have this path, the last one counts.
class PathWatch {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  PathWatch(const std::vector<std::string_view>& path, const policy::TextRule& rule)
      : path_(path), rule_(rule) {}
  bool found() const { return found_; }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) {
    const bool onward = depth_ == 0 || (is_wanted_here() && depth_ < path_.size());
    ++depth_;
    if (onward) {
      on_path_ = depth_;
      is_wanted_ = false;
    }
    return true;
  }
  bool on_object_end(std::size_t size, json::error_code&) {
    if (on_path_ == depth_) --on_path_;
    --depth_;
    return value(size > 0 && !rule_.reads_text());
  }
  bool on_array_begin(json::error_code&) {
    ++depth_;
    return true;
  }
  bool on_array_end(std::size_t size, json::error_code&) {
    --depth_;
    return value(size > 0 && !rule_.reads_text());
  }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) { return add_to_key(part); }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    add_to_key(part);
    if (depth_ != on_path_) return true;
    is_wanted_ = current_ == path_[depth_ - 1];
    // If a key is repeated, its last value counts, so an earlier match is discarded.
    if (is_wanted_) found_ = false;
    current_.clear();
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) { return add_to_text(part); }
  bool on_string(json::string_view part, std::size_t size, json::error_code&) {
    add_to_text(part);
    return value(size > 0 && is_as_asked());
  }
  bool on_number_part(json::string_view part, json::error_code&) { return add_to_text(part); }
  bool on_int64(std::int64_t, json::string_view part, json::error_code&) { return number(part); }
  bool on_uint64(std::uint64_t, json::string_view part, json::error_code&) { return number(part); }
  bool on_double(double, json::string_view part, json::error_code&) { return number(part); }
  bool on_bool(bool yes, json::error_code&) { return number(yes ? "true" : "false"); }
  bool on_null(json::error_code&) { return value(false); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool is_wanted_here() const { return is_wanted_ && depth_ == on_path_; }
  /// Adds a part of a key. Only objects have keys, so a key at depth 1 means that the text is an object.
  bool add_to_key(json::string_view part) {
    if (depth_ == on_path_) current_.append(part.data(), part.size());
    return true;
  }
  bool add_to_text(json::string_view part) {
    if (rule_.reads_text() && is_wanted_here()) text_.append(part.data(), part.size());
    return true;
  }
  bool number(json::string_view part) {
    add_to_text(part);
    return value(is_as_asked());
  }
  bool is_as_asked() const { return !rule_.reads_text() || rule_.holds(text_); }
  bool value(bool counts) {
    if (!is_wanted_here()) return true;
    if (depth_ == path_.size()) found_ = counts;
    is_wanted_ = false;
    text_.clear();
    return true;
  }

  const std::vector<std::string_view>& path_;
  const policy::TextRule& rule_;
  std::string current_;
  std::string text_;
  std::size_t depth_ = 0;
  std::size_t on_path_ = 0;  // depth of the innermost object on the wanted path
  bool is_wanted_ = false;   // the current key is the next key of the path
  bool found_ = false;
};

bool is_there(std::string_view text, const std::vector<std::string_view>& path,
              const policy::TextRule& rule) {
  json::parse_options options;
  options.max_depth = 64;
  json::basic_parser<PathWatch> parser(options, path, rule);
  json::error_code error;
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  return !error && read == text.size() && parser.handler().found();
}

}  // namespace

bool JsonText::has(std::string_view key) const { return is_there(text_, {key}, {}); }

bool JsonText::has_at(std::string_view path, const policy::TextRule& rule) const {
  std::vector<std::string_view> keys;
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    keys.push_back(path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  keys.push_back(path);
  return is_there(text_, keys, rule);
}

}  // namespace reprise::http
