#include "proxy/log/access_log.hpp"

#include <utility>

#include "proxy/log/json_text.hpp"
#include "proxy/log/line_parts.hpp"
#include "proxy/log/line_queue.hpp"

namespace reprise::observe {
namespace {

void write_json_message(config::LogLevel level, std::string_view text, std::int64_t wall, std::string& out) {
  out += "{\"time\":\"";
  out += timestamp(wall);
  out += "\",\"level\":\"";
  out += word(level);
  out += "\",\"message\":";
  append_json(out, text);
  out += "}\n";
}

void write_text_message(config::LogLevel level, std::string_view text, std::int64_t wall, LogReader reader,
                        std::string& out) {
  if (reader != LogReader::journal) {
    append_clock(out, wall);
    out += ' ';
  }
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

Log::Log(const config::Log& settings, const std::vector<std::string>& routes, int descriptor,
         LogReader reader)
    : settings_(std::bit_cast<std::uint32_t>(settings)),
      reader_(reader),
      writer_(std::make_unique<Writer>(descriptor)) {
  for (const std::string& name : routes) routes_.add(name);
}

Log::~Log() = default;

void Log::set(const config::Log& settings) {
  settings_.store(std::bit_cast<std::uint32_t>(settings), std::memory_order_relaxed);
}

void Log::name_route(std::size_t number, std::string_view name) {
  if (number == routes_.size()) routes_.add(name);
}

bool Log::is_json(config::LogFormat format) const {
  return format == config::LogFormat::automatic ? reader_ != LogReader::terminal
                                                : format == config::LogFormat::json;
}

void Log::open_line(config::LogLevel level, std::string& out) const {
  if (reader_ == LogReader::journal) out += priority_prefix(level);
}

void Log::access(const ExchangeRecord& record, std::int64_t wall) {
  const config::Log settings = this->settings();
  const std::string& route = routes_[record.route];
  const bool json = is_json(settings.format);
  if (settings.access && settings.level >= config::LogLevel::info) {
    if (json) {
      // Before the queue is locked, which all io threads share.
      thread_local Line line;
      line.clear();
      write_json_line(record, route, settings.path, wall, line);
      writer_->queue.append([&](std::string& out) {
        open_line(config::LogLevel::info, out);
        out += line.view();
      });
    } else {
      writer_->queue.append([&](std::string& out) {
        open_line(config::LogLevel::info, out);
        write_text_line(record, route, settings.path, wall, reader_, out);
      });
    }
  }
  if (is_exhausted(record.ledger->reason) && !record.ledger->empty()) {
    writer_->queue.append([&](std::string& out) {
      open_line(config::LogLevel::error, out);
      write_exhausted_line(record, route, settings.path, wall, json, reader_, out);
    });
  }
}

void Log::message(config::LogLevel level, std::string_view text, std::int64_t wall) {
  const config::Log settings = this->settings();
  if (level > settings.level) return;
  writer_->queue.append([&](std::string& out) {
    open_line(level, out);
    if (is_json(settings.format)) {
      write_json_message(level, text, wall, out);
    } else {
      write_text_message(level, text, wall, reader_, out);
    }
  });
}

std::uint64_t Log::dropped() const { return writer_->queue.dropped(); }

void write_exhausted_line(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                          std::int64_t wall, bool json, LogReader reader, std::string& out) {
  if (json) {
    write_exhausted_json(record, route, path, wall, out);
  } else {
    write_exhausted_text(record, route, path, wall, reader, out);
  }
}

}  // namespace reprise::observe
