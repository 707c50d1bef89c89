#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "config/clear_text.hpp"
#include "config/keys/keys.hpp"
#include "proxy/cli/commands/assumption.hpp"
#include "proxy/cli/commands/before_dialling.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/commands/explain_basis.hpp"
#include "proxy/cli/commands/explain_history.hpp"
#include "proxy/cli/commands/explained_call.hpp"
#include "proxy/cli/startup/configuration.hpp"
#include "proxy/cli/startup/shortcut_options.hpp"
#include "proxy/forward/request/facts.hpp"
#include "proxy/forward/request/outgoing_fields.hpp"
#include "proxy/forward/session/listen.hpp"
#include "proxy/forward/tunnel/interception.hpp"
#include "proxy/http/body_rules/json_probe.hpp"
#include "proxy/http/grpc/call.hpp"
#include "proxy/http/http1/parse.hpp"
#include "proxy/http/http1/rewrite.hpp"
#include "proxy/http/message/ascii.hpp"
#include "proxy/http/message/connection_auth.hpp"
#include "proxy/http/message/intake.hpp"
#include "proxy/http/message/origin.hpp"
#include "proxy/http/retry_hints/download.hpp"
#include "proxy/tools/explain/explain_report.hpp"
#include "proxy/tools/explain/explain_report_json.hpp"

namespace reprise::cli {
namespace {

namespace ascii = http::ascii;

struct Arguments {
  std::string method;
  std::string url;
  std::string body_file;
  std::string format = "text";
  std::string request_id;
  BasisArguments basis;
  std::vector<std::string> headers;
  bool http2 = false;
  AssumptionArguments assumption;
};

/// A request that the proxy's own parser has parsed, and the destination of the request.
struct Asked {
  std::string text;  ///< text of the request head; `head` has views into this text
  http::RequestHead head;
  std::string outgoing;  ///< head that would be sent upstream; empty for a tunnel
  std::string
      below_upstream;  ///< target that `view` refers to if the gateway's upstream has a path of its own
  policy::RequestView view;
  bool tunnel = false;
  bool https = false;
  std::vector<std::string> https_words;  ///< sentences on how an https URL would be handled
  std::string body;
  std::vector<std::string> notes;
};

bool names(const std::vector<std::string>& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(), [&](const std::string& header) {
    return ascii::same(ascii::trim(std::string_view(header).substr(0, header.find(':'))), name);
  });
}

/// Returns a suggestion to put `http://` before the URL if only the scheme is missing. Otherwise, returns an
/// empty text.
std::string meant_url(const std::string& url) {
  const bool has_scheme = url.find("://") != std::string::npos;
  if (has_scheme || std::holds_alternative<http::Rejection>(http::split_absolute("http://" + url))) return {};
  return config::did_you_mean("http://" + url);
}

/// Returns the value for the Host field. For CONNECT, this is the request target.
std::string authority_of(const Arguments& given) {
  if (given.method == "CONNECT") return given.url;
  const auto split = http::split_absolute(given.url);
  if (const auto* cause = std::get_if<http::Rejection>(&split))
    throw BadUse(given.url + ": " + refusal(*cause) + meant_url(given.url));
  return std::string(std::get<http::Target>(split).authority);
}

std::string head_text(const Arguments& given, std::size_t body_bytes) {
  std::string text = given.method + " " + given.url + " HTTP/1.1\r\n";
  const std::string authority = authority_of(given);
  if (!names(given.headers, "Host")) ascii::append(text, "Host: ", authority, "\r\n");
  const bool framed = names(given.headers, "Content-Length") || names(given.headers, "Transfer-Encoding");
  if (!given.body_file.empty() && !framed)
    ascii::append(text, "Content-Length: ", std::to_string(body_bytes), "\r\n");
  for (const std::string& header : given.headers) ascii::append(text, header, "\r\n");
  return text + "\r\n";
}

void parse_head(const Arguments& given, const config::Limits& limits, Asked& asked) {
  const std::string line = given.method + given.url;
  if (line.find_first_of("\r\n") != std::string::npos) throw BadUse("the method or the URL has a line break");
  asked.text = head_text(given, asked.body.size());
  const http::HeadLimits head_limits{limits.header_bytes, limits.header_fields, limits.target_bytes};
  const http::Parsed parsed = http::parse_request(asked.text, head_limits, asked.head);
  if (const auto* cause = std::get_if<http::Rejection>(&parsed)) throw BadUse(refusal(*cause));
  if (asked.head.bytes != asked.text.size()) throw BadUse("a header has a line break");
  asked.head.over_http2 = given.http2;
  asked.view.is_call = http::is_grpc_call(asked.head);
  if (!given.assumption.call.name.empty() && !asked.view.is_call)
    throw BadUse("the Content-Type of a gRPC call is application/grpc: leave out this --header");
}

void go_to(const http::Target& target, policy::RequestView& view) {
  view.host = target.origin.host;
  view.port = target.origin.port;
  view.path = target.path.empty() ? "/" : target.path;
  view.query = target.query;
}

const config::Listener* gateway_at(const config::Settings& settings, const policy::RequestView& view) {
  const auto is_it = [&](const config::Listener& listener) {
    return config::has_own_upstream(listener.mode) && listener.bind.port == view.port &&
           listener.bind.address == view.host;
  };
  const auto found = std::find_if(settings.listeners.begin(), settings.listeners.end(), is_it);
  return found == settings.listeners.end() ? nullptr : &*found;
}

/// Returns the ports that CONNECT may use through the first forward listener; empty if there is no such
/// listener.
http::PortRanges ports_of(const config::Settings& settings) {
  const config::Listener* const listener = first_forward(settings);
  if (listener == nullptr) return {};
  return forward::connect_ports_of(settings.security, asio::ip::make_address(listener->bind.address));
}

// Returns sentences on how the proxy handles https URLs of this host. For an https URL, a client sends
// CONNECT. Without interception, the proxy cannot read the requests in the tunnel.
std::vector<std::string> words_of_https(const config::Settings& settings, std::string_view host) {
  const std::string name(host);
  if (settings.intercept && forward::lists_host(settings.intercept->hosts, host))
    return {"intercept.hosts lists " + name +
            ": requests of a client that trusts intercept.bundle are handled as below."};
  return {
      "The request is not retried, because the client sends CONNECT and reprise cannot read its tunnel. "
      "Choose one of three:",
      "1. origination: the client uses http://" + name +
          " and the route has tls: originate, or the client uses a gateway listener: handled as below;",
      "2. interception: list " + name + " in intercept.hosts, or use reprise exec --intercept " + name +
          ": handled as below;",
      "3. no change: the tunnel cannot be read, and only connecting is retried (explain CONNECT " + name +
          ":443 --failure connect)."};
}

/// Determines the destination of the request by the rules of a forward listener. If the URL names a gateway
/// listener, the destination is the upstream of that listener.
void take(const config::Settings& settings, const Arguments& given, Asked& asked) {
  asked.view.method = asked.head.method;
  asked.view.fields = &asked.head;
  http::Intake intake = http::take_forward(asked.head, ports_of(settings));
  if (const auto* connect = std::get_if<http::Connect>(&intake)) {
    asked.tunnel = true;
    asked.view.host = connect->host;
    asked.view.port = connect->port;
    asked.view.path = "/";
    return;
  }
  if (std::holds_alternative<http::Respond>(intake))
    throw BadUse("Max-Forwards is 0: reprise responds to this request itself and sends no attempt");
  const auto* rejected = std::get_if<http::Rejected>(&intake);
  if (rejected != nullptr) throw BadUse(refusal(rejected->cause));
  auto& forward = std::get<http::Forward>(intake);
  go_to(forward.target, asked.view);
  asked.https = forward.https;
  if (asked.https) {
    asked.https_words = words_of_https(settings, asked.view.host);
  } else if (const config::Listener* gateway = gateway_at(settings, asked.view)) {
    http::put_below(gateway->upstream.path_prefix, forward.target, asked.below_upstream);
    go_to(forward.target, asked.view);
    asked.view.host = gateway->upstream.host;
    asked.view.port = gateway->upstream.port;
    asked.https = gateway->upstream.https;
    asked.notes.push_back(given.url.substr(0, given.url.find('/', 7)) +
                          " is a gateway listener: the upstream is " + gateway->upstream.host + ":" +
                          std::to_string(gateway->upstream.port) + gateway->upstream.path_prefix + ".");
  }
  http::write_request_head(asked.head, forward, "reprise",
                           http::asks_upgrade(asked.head, http::ToH2c::dropped), asked.outgoing);
}

tools::Question question_of(const Asked& asked, const policy::RoutePolicy& policy, const Assumption& assumed,
                            const http::JsonText& json, const forward::OutgoingFields& leaving) {
  tools::Question question;
  question.request = asked.view;
  question.leaving = &leaving;
  question.tunnel = asked.tunnel;
  if (!asked.head.has("Content-Encoding", "")) question.body = &json;
  question.body_bytes = std::max<std::uint64_t>(asked.body.size(), asked.head.framing.length);
  question.request.changes_protocol =
      http::asks_upgrade(asked.head, http::ToH2c::dropped) && !http::offers_only_tls(asked.head);
  question.facts = forward::facts_of_head(asked.head, question.request, policy);
  question.facts.no_store = http::is_no_store(asked.head);
  question.signature_end = signature_end(asked.head, asked.view.query);
  if (policy.signature_sigv4) question.facts.signed_until = question.signature_end;
  if (asked.view.is_call) question.facts.call_deadline = call_deadline(asked.head);
  question.late_status = assumed.late_status;
  question.download = http::read_download_request(asked.head, asked.view.query);
  question.bound = http::authenticates_connection(asked.head);
  question.outcome = assumed.outcome;
  question.first.number = question.first.charged = assumed.attempt;
  const auto* failed = std::get_if<policy::Failed>(&assumed.outcome);
  const bool sent = failed == nullptr || (failed->stage >= policy::Stage::send && !failed->unprocessed);
  question.first.sent = sent ? policy::Sent::maybe : policy::Sent::nothing;
  return question;
}

// Throws BadUse if a stream is assumed, although the request is not sent over HTTP/2.
void demand_http2(const tools::ExplainReport& report) {
  if (report.explanation.http2) return;
  if (report.route_policy().http2 == policy::UseHttp2::never)
    throw BadUse("the route " + report.route().name +
                 " has http2: never, so its requests use no HTTP/2 stream; leave out --reset and --goaway");
  throw BadUse(
      "a request that asks for another protocol, or authenticates its connection, is always sent over "
      "HTTP/1.1; leave out --reset and --goaway");
}

constexpr const char* http1_note =
    "After http_1_1_required, requests to this upstream are sent over HTTP/1.1 for 10 minutes, so a second "
    "attempt cannot fail in this way.";

constexpr const char* upgrade_note =
    "The request offers an upgrade. Any response other than 101 declines it; if a download of such a "
    "response breaks, it is resumed by requests without the Upgrade field. Unless the upgrade is only to "
    "TLS, no hedge is sent.";

constexpr const char* clear_text_note =
    "Clear text: reprise connects to the upstream without TLS, so any credentials in the request can be read "
    "on the way. Write tls: originate in the route.";

bool carries_credentials(const http::RequestHead& head) {
  for (const std::string_view name :
       {"Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "X-Amz-Security-Token"}) {
    if (head.has(name, "")) return true;
  }
  return false;
}

// Returns true if the request would leave this host in clear text but should not: the request has
// credentials, or its destination is normally reached over TLS (row L26).
bool leaves_in_clear_text(const Asked& asked, const policy::TlsPolicy& tls) {
  if (tls.originate || asked.https || asked.tunnel) return false;
  if (http::is_loopback_host(asked.view.host)) return false;
  return config::is_reached_over_tls(asked.view.host) || carries_credentials(asked.head);
}

// Makes the request of the gRPC call that --grpc names: a POST over HTTP/2 to the path of its method.
void take_call(Arguments& given) {
  const CallArguments& call = given.assumption.call;
  if (!given.url.empty())
    throw BadUse("--grpc names a POST: leave out the method " + given.method + ", and write only the URL");
  const auto split = http::split_absolute(given.method);
  if (const auto* cause = std::get_if<http::Rejection>(&split); cause != nullptr && !given.method.empty())
    throw BadUse(given.method + ": " + refusal(*cause) + meant_url(given.method));
  CalledMethod called = called_method(call, given.method);
  given.url = std::move(called.url);
  given.method = "POST";
  given.http2 = true;
  for (std::string& field : called.fields) {
    const std::string_view name = std::string_view(field).substr(0, field.find(':'));
    if (!names(given.headers, name)) given.headers.push_back(std::move(field));
  }
}

// Throws BadUse if the command line does not name a request.
void demand_a_request(const Arguments& given) {
  const bool is_url = given.method.find("://") != std::string::npos;
  if (is_url && given.url.empty())
    throw BadUse("the method is missing (did you mean reprise explain GET " + given.method + "?)");
  if (!given.method.empty() && given.url.empty()) throw BadUse("url is missing; see reprise help explain");
  if (given.method.empty())
    throw BadUse(
        "a request is missing: write `reprise explain GET http://api.example.com/`, or name a finished "
        "request with `--request-id ID` (the id is in the access log and in Reprise-Request-Id)");
}

// Makes the command accept `old_name` for `option`, with a warning. Values given under the old name are added
// to `option`. The empty group hides the old name from --help. Precondition: the command already has
// `option`.
void accept_old_name(CLI::App& command, const std::string& old_name, CLI::Option* option) {
  const auto pass_on = [old_name, option](const std::vector<std::string>& values) {
    print_on_stderr(config::LogLevel::warn, "warning: " + old_name + " is now " + option->get_name());
    for (const std::string& value : values) option->add_result(value);
    option->run_callback();
  };
  command.add_option_function<std::vector<std::string>>(old_name, pass_on)
      ->allow_extra_args(false)
      ->group("");
}

// Adds what an operator should know about the request besides the decision.
void add_notes(const config::Settings& settings, const std::string& method, const Asked& asked,
               const policy::RoutePolicy& policy, const Assumption& assumed,
               std::vector<std::string>& notes) {
  if (std::string way = way_to(settings, asked.view.host); !way.empty()) notes.push_back(std::move(way));
  if (std::string warning = warning_of_method(method); !warning.empty()) notes.push_back(std::move(warning));
  if (assumed.stream_end && assumed.stream_end->code == policy::Http2Code::http_1_1_required)
    notes.emplace_back(http1_note);
  if (!assumed.junk_hint.empty()) notes.push_back(assumed.junk_hint);
  if (policy.tls.originate && !asked.https && !asked.tunnel) {
    notes.push_back("reprise connects to the upstream over TLS, on port " +
                    std::to_string(http::port_over_tls(asked.view.port)) + ".");
  }
  if (leaves_in_clear_text(asked, policy.tls)) notes.emplace_back(clear_text_note);
  if (http::asks_upgrade(asked.head, http::ToH2c::dropped)) notes.emplace_back(upgrade_note);
}

// Adds the notes about lowered limits of held request bodies. Other limits do not change the explanation.
void add_notes_of_held_bodies(const std::vector<std::string>& fitted, std::vector<std::string>& notes) {
  std::copy_if(fitted.begin(), fitted.end(), std::back_inserter(notes), [](const std::string& note) {
    return note.find("limits.replay_memory ") != std::string::npos;
  });
}

int explain(Arguments given) {
  if (!given.request_id.empty())
    return explain_history(given.request_id, given.basis.admin, given.basis.file, given.format);
  if (!given.assumption.call.name.empty()) take_call(given);
  demand_a_request(given);
  int code = exit_ok;
  std::optional<Basis> basis = find_basis(given.basis, code);
  if (!basis) return code;
  config::Loaded& loaded = basis->loaded;
  // A running proxy has already lowered these settings to the limits of its process and printed the warnings.
  // Only settings that come from a file or the defaults must still be lowered.
  std::vector<std::string> fitted;
  if (!basis->is_running) fitted = fit_to(server::read_limits(), loaded, given.basis.file);
  if (!basis->is_running || !loaded.settings) print_problems(loaded, basis->file);
  if (!loaded.settings) return exit_code_of(loaded.problems);
  const bool tunnel = given.method == "CONNECT";
  Assumption assumed = assume(given.assumption, given.headers, tunnel);
  given.headers = assumed.request_headers;
  Asked asked;
  if (!given.body_file.empty()) asked.body = read_file(given.body_file);
  parse_head(given, loaded.settings->limits, asked);
  take(*loaded.settings, given, asked);
  const policy::RouteTable& routes = *loaded.settings->routes;
  const http::JsonText json(asked.body);
  std::optional<http::NamedByConnection> named;
  const forward::OutgoingFields leaving(asked.head, asked.outgoing, named);
  tools::ExplainReport report;
  report.method = given.method;
  report.url = given.url;
  report.file = basis->file;
  report.settings = basis->words;
  report.assumed = assumed.words;
  report.https = asked.https_words;
  report.notes = asked.notes;
  const policy::RoutePolicy& policy = routes.policy_for(routes.find(asked.view), asked.view);
  apply_stream_end(policy, assumed);
  apply_predicates(policy, assumed);
  if (const auto closed = never_dialled(*loaded.settings, asked.view.host, asked.view.port)) {
    assumed.outcome = closed->failure;
    report.assumed = "no connection is opened: " + closed->words;
  } else if (asked.view.is_call && policy.http2 == policy::UseHttp2::never) {
    assumed.outcome = policy::Failed{policy::Stage::connect, policy::Cause::not_http2};
    assumed.stream_end.reset();
    assumed.late_status.reset();
    report.assumed = "the call is not sent, because the route has http2: never";
  }
  add_notes(*loaded.settings, given.method, asked, policy, assumed, report.notes);
  report.routes = &routes;
  report.limits = loaded.settings->limits;
  report.question = question_of(asked, policy, assumed, json, leaving);
  report.question.total_memory = report.limits.replay_memory_bytes;
  report.question.total_disk = report.limits.replay_disk_bytes;
  report.question.http2 = given.http2 || assumed.stream_end.has_value();
  if (report.question.body_bytes > 0) add_notes_of_held_bodies(fitted, report.notes);
  report.explanation = tools::explain(routes, report.question);
  if (assumed.stream_end) demand_http2(report);
  std::fputs((given.format == "json" ? to_json(report) : to_text(report)).c_str(), stdout);
  return exit_ok;
}

// Adds the options that say how every attempt ends.
void add_assumption(CLI::App& command, AssumptionArguments& assumption) {
  CLI::Option* status = command.add_option("--status", assumption.status,
                                           "status of the response to every attempt (default 503)");
  CLI::Option* failure =
      command.add_option("--failure", assumption.failure, "how every attempt fails: " + failure_words(" "))
          ->type_name("WORD:{" + failure_words(",") + "}")
          ->excludes(status);
  CLI::Option* reset = command
                           .add_option("--reset", assumption.reset,
                                       "HTTP/2: every attempt ends by RST_STREAM with this code, such as "
                                       "refused_stream")
                           ->type_name("CODE")
                           ->excludes(status)
                           ->excludes(failure);
  command
      .add_flag("--goaway", assumption.goaway,
                "HTTP/2: every attempt ends by GOAWAY, and the upstream did not process the request")
      ->excludes(status)
      ->excludes(failure)
      ->excludes(reset);
  CLI::Option* header = command
                            .add_option("--response-header", assumption.response_headers,
                                        "'Name: value' field of the assumed responses; repeatable")
                            ->allow_extra_args(false);
  CLI::Option* body = command.add_option("--response-body", assumption.response_body,
                                         "file with the body of the assumed responses");
  accept_old_name(command, "--answer-header", header);
  accept_old_name(command, "--answer-body", body);
  command
      .add_option("--attempt", assumption.attempt,
                  "start with attempt N; the earlier attempts failed the same way")
      ->check(CLI::Range(1U, 1000U));
}

}  // namespace

void add_explain(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("explain", "explain how a request would be handled, and why");
  const auto given = std::make_shared<Arguments>();
  CLI::Option* method =
      command->add_option("method", given->method, "method, such as GET or POST; left out with --grpc");
  command->add_option("url", given->url, "absolute URL; for CONNECT, host:port");
  CLI::Option* const call = add_call_options(*command, given->assumption.call);
  CLI::Option* id = command
                        ->add_option("--request-id", given->request_id,
                                     "explain a finished request: the id from its log line, or the "
                                     "X-Request-Id that its client sent")
                        ->excludes(method)
                        ->excludes(call);
  CLI::Option* admin =
      command->add_option("--admin", given->basis.admin, "HOST:PORT of the running proxy's admin listener");
  command->add_option("--control", given->basis.control, "control socket of the running proxy")
      ->excludes(admin)
      ->excludes(id);
  command->add_option(
      "-c,--config", given->basis.file,
      "configuration file (default: that of the running proxy, otherwise the built-in defaults)");
  add_shortcuts(*command, ShortcutsOf::routes, given->basis.flags);
  command->add_option("--header", given->headers, "'Name: value' field of the request; repeatable")
      ->allow_extra_args(false);
  command->add_option("--body", given->body_file, "file with the request body");
  command->add_option("--format", given->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  command->footer("reprise explain POST https://api.example.com/v1/orders -c reprise.yaml --status 503");
  command->add_flag("--http2", given->http2, "the request uses HTTP/2, unless the route has http2: never");
  add_assumption(*command, given->assumption);
  command->callback([given, &code] {
    try {
      code = explain(*given);
    } catch (const BadUse& error) {
      std::fprintf(stderr, "reprise explain: %s\n", error.what());
      code = exit_usage;
    }
  });
}

}  // namespace reprise::cli
