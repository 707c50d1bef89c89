#include "proxy/telemetry/log/access_log.hpp"

#include <utility>

#include "proxy/telemetry/log/json_line.hpp"
#include "proxy/telemetry/log/line_parts.hpp"
#include "proxy/telemetry/log/line_queue.hpp"

namespace reprise::telemetry {
namespace {

Dialect dialect_of(LineForm form) { return form == LineForm::otel ? Dialect::otel : Dialect::own; }

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

LineForm Log::form(config::LogFormat format) const {
  switch (format) {
    case config::LogFormat::json: return LineForm::json;
    case config::LogFormat::text: return LineForm::text;
    case config::LogFormat::otel: return LineForm::otel;
    case config::LogFormat::automatic: break;
  }
  return reader_ == LogReader::terminal ? LineForm::text : LineForm::json;
}

void Log::open_line(config::LogLevel level, std::string& out) const {
  if (reader_ == LogReader::journal) out += priority_prefix(level);
}

void Log::access(const ExchangeRecord& record) {
  const config::Log settings = this->settings();
  const std::string& route = routes_[record.route];
  const LineForm form = this->form(settings.format);
  if (settings.access && settings.level >= config::LogLevel::info) {
    if (form != LineForm::text) {
      // Formats the line before it locks the queue, because all io threads share the queue.
      thread_local Line line;
      line.clear();
      write_json_line(record, route, settings.path, line, dialect_of(form));
      writer_->queue.append([&](std::string& out) {
        open_line(config::LogLevel::info, out);
        out += line.view();
      });
    } else {
      writer_->queue.append([&](std::string& out) {
        open_line(config::LogLevel::info, out);
        write_text_line(record, route, settings.path, reader_, out);
      });
    }
  }
  if (is_exhausted(record.ledger->reason) && !record.ledger->empty()) {
    writer_->queue.append([&](std::string& out) {
      open_line(config::LogLevel::error, out);
      write_exhausted_line(record, route, settings.path, form, reader_, out);
    });
  }
}

void Log::message(config::LogLevel level, std::string_view text, std::int64_t wall) {
  const config::Log settings = this->settings();
  if (level > settings.level) return;
  writer_->queue.append([&](std::string& out) {
    open_line(level, out);
    if (const LineForm form = this->form(settings.format); form != LineForm::text) {
      write_json_message(level, text, wall, dialect_of(form), out);
    } else {
      write_text_message(level, text, wall, reader_, out);
    }
  });
}

std::uint64_t Log::dropped() const { return writer_->queue.dropped(); }

void write_exhausted_line(const ExchangeRecord& record, std::string_view route, config::LogPath path,
                          LineForm form, LogReader reader, std::string& out) {
  if (form != LineForm::text) {
    write_exhausted_json(record, route, path, dialect_of(form), out);
  } else {
    write_exhausted_text(record, route, path, reader, out);
  }
}

}  // namespace reprise::telemetry
