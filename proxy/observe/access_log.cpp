#include "proxy/observe/access_log.hpp"

#include <utility>

#include "proxy/observe/json_text.hpp"
#include "proxy/observe/line_parts.hpp"
#include "proxy/observe/line_queue.hpp"

namespace reprise::observe {
namespace {

bool is_json(config::LogFormat format, bool terminal) {
  return format == config::LogFormat::automatic ? !terminal : format == config::LogFormat::json;
}

void write_json_message(config::LogLevel level, std::string_view text, std::int64_t wall, std::string& out) {
  out += "{\"time\":\"";
  append_timestamp(out, wall);
  out += "\",\"level\":\"";
  out += word(level);
  out += "\",\"message\":";
  append_json(out, text);
  out += "}\n";
}

void write_text_message(config::LogLevel level, std::string_view text, std::int64_t wall, std::string& out) {
  append_clock(out, wall);
  out += ' ';
  out += word(level);
  out += ": ";
  append_visible(out, text);
  out += '\n';
}

}  // namespace

struct Log::Writer {
  explicit Writer(int descriptor) : queue(descriptor) {}
  LineQueue queue;
};

Log::Log(const config::Log& settings, std::vector<std::string> routes, int descriptor, bool terminal)
    : settings_(settings),
      routes_(std::move(routes)),
      json_(is_json(settings.format, terminal)),
      colour_(terminal),
      writer_(std::make_unique<Writer>(descriptor)) {}

Log::~Log() = default;

void Log::access(const ExchangeRecord& record, std::int64_t wall) {
  const std::string& route = routes_.at(record.route);
  if (settings_.access && settings_.level >= config::LogLevel::info) {
    writer_->queue.append([&](std::string& out) {
      if (json_) {
        write_json_line(record, route, settings_.path, wall, out);
      } else {
        write_text_line(record, route, settings_.path, wall, colour_, out);
      }
    });
  }
  if (is_exhausted(record.ledger->reason) && !record.ledger->empty()) {
    writer_->queue.append(
        [&](std::string& out) { write_exhausted_line(record, route, settings_.path, wall, json_, out); });
  }
}

void Log::message(config::LogLevel level, std::string_view text, std::int64_t wall) {
  if (level > settings_.level) return;
  writer_->queue.append([&](std::string& out) {
    if (json_) {
      write_json_message(level, text, wall, out);
    } else {
      write_text_message(level, text, wall, out);
    }
  });
}

std::uint64_t Log::dropped() const { return writer_->queue.dropped(); }

void write_exhausted_line(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                          std::int64_t wall, bool json, std::string& out) {
  if (json) {
    write_exhausted_json(record, route, path, wall, out);
  } else {
    write_exhausted_text(record, route, path, wall, out);
  }
}

}  // namespace reprise::observe
