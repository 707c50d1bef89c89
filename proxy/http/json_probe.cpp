// One pass of Boost.JSON's event parser over a held body; the only file that sees Boost.JSON.
#include "proxy/http/json_probe.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/src.hpp>
#include <string>

namespace reprise::http {
namespace {

namespace json = boost::json;

/// Follows how deep the parser is, and whether the last value of the wanted top-level key is one that counts.
class KeyWatch {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  explicit KeyWatch(std::string_view key) : key_(key) {}
  bool found() const { return found_; }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return enter(); }
  bool on_object_end(std::size_t size, json::error_code&) { return leave(size > 0); }
  bool on_array_begin(json::error_code&) { return enter(); }
  bool on_array_end(std::size_t size, json::error_code&) { return leave(size > 0); }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) { return add_to_key(part); }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    add_to_key(part);
    if (depth_ == 1) {
      is_wanted_ = current_ == key_;
      current_.clear();
    }
    return true;
  }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t size, json::error_code&) { return value(size > 0); }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return value(true); }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return value(true); }
  bool on_double(double, json::string_view, json::error_code&) { return value(true); }
  bool on_bool(bool, json::error_code&) { return value(true); }
  bool on_null(json::error_code&) { return value(false); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool enter() {
    ++depth_;
    return true;
  }
  bool leave(bool has_members) {
    --depth_;
    return value(has_members);
  }
  /// Keys exist in objects alone, so a wanted key at depth 1 means that the top level is an object.
  bool add_to_key(json::string_view part) {
    if (depth_ == 1) current_.append(part.data(), part.size());
    return true;
  }
  bool value(bool counts) {
    if (depth_ == 1 && is_wanted_) {
      found_ = counts;
      is_wanted_ = false;
    }
    return true;
  }

  std::string_view key_;
  std::string current_;
  unsigned depth_ = 0;
  bool is_wanted_ = false;
  bool found_ = false;
};

}  // namespace

bool JsonText::has(std::string_view key) const {
  json::parse_options options;
  options.max_depth = 64;
  json::basic_parser<KeyWatch> parser(options, key);
  json::error_code error;
  const std::size_t read = parser.write_some(false, text_.data(), text_.size(), error);
  return !error && read == text_.size() && parser.handler().found();
}

}  // namespace reprise::http
