// Tests that written log lines match the table of log fields: each name and type, in the formats `json` and
// `otel`.
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <set>
#include <string>

#include "proxy/telemetry/log/access_fields.hpp"
#include "proxy/telemetry/log/json_line.hpp"
#include "tests/support/scripted_request.hpp"

namespace reprise::telemetry {
namespace log_fields_test {
namespace {

/// Compares JSON objects with the rows of the table of log fields, and records which rows were found.
class Comparison {
 public:
  explicit Comparison(Dialect dialect) : dialect_(dialect) {}

  void object(const boost::json::object& members, FieldOf of) {
    for (const auto& member : members) {
      const std::string_view name(member.key().data(), member.key().size());
      const FieldRow* const found = find(name, of);
      ASSERT_NE(found, nullptr) << name << " is not in the table";
      EXPECT_TRUE(is_of_type(member.value(), found->type)) << name << " is no " << found->type;
      met_.insert(found->field);
      if (found->field == Field::attempts) {
        for (const auto& attempt : member.value().as_array()) object(attempt.as_object(), FieldOf::attempt);
      }
      if (found->field == Field::call) object(member.value().as_object(), FieldOf::call);
    }
  }
  std::set<Field> met() const { return met_; }

 private:
  // Returns the row of a field, or null. An `exhausted` line also has `message` and fields of an access line.
  const FieldRow* find(std::string_view name, FieldOf of) const {
    const FieldRow* found = row_of(name, of);
    const bool is_part = of == FieldOf::attempt || of == FieldOf::call;
    if (found == nullptr && !is_part) found = row_of(name, FieldOf::every_line);
    if (found == nullptr && of == FieldOf::exhausted) found = row_of(name, FieldOf::message);
    if (found == nullptr && of == FieldOf::exhausted) found = row_of(name, FieldOf::request);
    return found;
  }
  const FieldRow* row_of(std::string_view name, FieldOf of) const {
    for (const FieldRow& row : field_rows) {
      if (row.of == of && row.names[static_cast<std::size_t>(dialect_)] == name) return &row;
    }
    return nullptr;
  }
  // Accepts null as an integer: in the format `json`, a status that was not sent is null.
  static bool is_of_type(const boost::json::value& value, std::string_view type) {
    if (type == "string") return value.is_string() && !value.get_string().empty();
    if (type == "integer") return value.is_int64() || value.is_null();
    if (type == "number") return value.is_double();
    if (type == "boolean") return value.is_bool();
    if (type == "object") return value.is_object();
    return type == "array of objects" && value.is_array();
  }

  const Dialect dialect_;
  std::set<Field> met_;
};

// Returns every log field that the scripted requests can produce in one of the formats `json` and `otel`.
std::set<Field> expected(Dialect dialect) {
  // No scripted request is hedged, uses a route that only observes, or dials an upstream.
  const std::set<Field> not_played{Field::hedge,    Field::hedge_refused, Field::would_wait,
                                   Field::upstream, Field::upstream_port, Field::message};
  std::set<Field> all;
  for (const FieldRow& row : field_rows) {
    if (!row.names[static_cast<std::size_t>(dialect)].empty() && !not_played.contains(row.field))
      all.insert(row.field);
  }
  return all;
}

boost::json::object read(std::string_view line) { return boost::json::parse(line).as_object(); }

TEST(LogFields, every_logged_member_is_in_the_table_and_every_table_row_is_logged) {
  for (const Dialect dialect : {Dialect::own, Dialect::otel}) {
    Comparison comparison(dialect);
    for (const ScriptedRequest& story : all_stories()) {
      ExchangeRecord record = story.record();
      record.client = "[2001:db8::1]:50000";
      record.id = "k3x9ab-17";
      record.http2 = true;
      Line line;
      write_json_line(record, "orders", config::LogPath::full, line, dialect);
      comparison.object(read(line.view()), FieldOf::request);
      if (record.ledger->empty()) continue;
      std::string exhausted;
      write_exhausted_json(record, "orders", config::LogPath::full, dialect, exhausted);
      comparison.object(read(exhausted), FieldOf::exhausted);
    }
    std::set<Field> left = expected(dialect);
    for (const Field field : comparison.met()) left.erase(field);
    for (const Field field : left) ADD_FAILURE() << row(field).meaning << " was never written";
  }
}

TEST(LogFields, otel_splits_address_and_port_and_logs_unknown_methods_as_other) {
  const ScriptedRequest plain = all_stories().front();
  ExchangeRecord record = plain.record();
  record.client = "[2001:db8::1]:50000";
  record.method = "BREW";
  Line line;
  write_json_line(record, "api", config::LogPath::full, line, Dialect::otel);
  const auto members = read(line.view());
  EXPECT_EQ(members.at("client.address").as_string(), "2001:db8::1");
  EXPECT_EQ(members.at("client.port").as_int64(), 50000);
  EXPECT_EQ(members.at("http.request.method").as_string(), "_OTHER");
  EXPECT_EQ(members.at("http.request.method_original").as_string(), "BREW");
  EXPECT_EQ(members.at("http.server.request.duration").as_double(), 0.012);
}

TEST(LogFields, field_names_of_each_format_are_unique_within_an_object) {
  for (const std::size_t dialect : {0U, 1U}) {
    std::set<std::pair<FieldOf, std::string_view>> names;
    for (const FieldRow& row : field_rows) {
      if (!row.names[dialect].empty()) {
        EXPECT_TRUE(names.emplace(row.of, row.names[dialect]).second) << row.names[dialect];
      }
      EXPECT_TRUE(row.meaning.ends_with('.')) << row.meaning;
    }
  }
}

}  // namespace
}  // namespace log_fields_test
}  // namespace reprise::telemetry
