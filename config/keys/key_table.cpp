#include "config/keys/key_table.hpp"

#include <algorithm>
#include <array>

#include "config/settings.hpp"
#include "proxy/policy/match/enumerators.hpp"

namespace reprise::config {
namespace {

using enum Kind;
constexpr std::string_view year = "8760h";

// Calls `add(parts...)` for each word of `retry.on`: the kinds of failure, and the statuses of gRPC calls
// except `ok`.
template <typename Function>
constexpr void for_each_word_of_retry_on(Function add) {
  for (const policy::FailureWord& word : policy::failure_words) add(word.text, std::string_view());
  for (const std::string_view name : policy::names_of<policy::GrpcStatus>) {
    if (name != policy::word(policy::GrpcStatus::ok)) add(policy::call_word_prefix, name);
  }
}

// The words of `retry.on`, separated by blanks.
constexpr auto retry_on_text = [] {
  constexpr std::size_t bytes = [] {
    std::size_t sum = 0;
    for_each_word_of_retry_on(
        [&](std::string_view first, std::string_view rest) { sum += first.size() + rest.size() + 1; });
    return sum - 1;
  }();
  std::array<char, bytes> text{};
  char* at = text.data();
  for_each_word_of_retry_on([&](std::string_view first, std::string_view rest) {
    if (at != text.data()) *at++ = ' ';
    at = std::copy(first.begin(), first.end(), at);
    at = std::copy(rest.begin(), rest.end(), at);
  });
  return text;
}();

// clang-format off
constexpr auto table = std::to_array<Key>({
  {.path = "version", .kind = whole, .standard = "1", .sentence = "The version of the configuration format. This key is required.", .lowest = "1", .highest = "1"},

  {.path = "listeners", .kind = list, .standard = "[{mode: forward, bind: 127.0.0.1:3128}]", .sentence = "The addresses where clients connect. A list in the file replaces the default. At most 64 listeners."},
  {.path = "listeners[].mode", .kind = word, .standard = "forward", .sentence = "`forward`: an HTTP proxy (absolute-form and CONNECT). `gateway`: forwards every request to one upstream, for clients without proxy support. `transparent`: accepts connections that a firewall rule of this host redirects (`reprise redirect`). `socks`: a SOCKS5 proxy that resolves names itself.", .words = "forward gateway transparent socks"},
  {.path = "listeners[].bind", .kind = endpoint, .standard = "127.0.0.1:3128", .sentence = "A numeric address and a port. Port 0 binds a free port, which is logged. Only a forward listener has a default."},
  {.path = "listeners[].allow_remote", .kind = boolean, .standard = "false", .sentence = "`true` permits an address that other machines can reach. `false` permits only loopback addresses."},
  {.path = "listeners[].http2", .kind = boolean, .standard = "true", .sentence = "`true` also accepts HTTP/2 from clients: in clear text with prior knowledge, inside tunnels, and over intercepted TLS (ALPN). `false` rejects it with 505, passes it through tunnels unread, and offers only HTTP/1.1 over intercepted TLS."},
  {.path = "listeners[].upstream", .kind = upstream, .standard = "", .sentence = "Gateway only, required: the upstream that receives every request. `https://` uses TLS and verifies the certificate. The default port is 80, or 443 with `https://`."},
  {.path = "listeners[].host", .kind = word, .standard = "upstream", .sentence = "Gateway only: the `Host` that the upstream receives; over TLS, its certificate must have the same name. `upstream`: the host of the key `upstream`. `client`: the client's `Host`.", .words = "upstream client"},
  {.path = "listeners[].redirects", .kind = word, .standard = "rewrite", .sentence = "Gateway only. `rewrite` makes responses fit the gateway: it changes the Location of a 3xx that points to the upstream's own origin, and removes Domain and Secure from cookies (not from `__Host-`, `__Secure-` and `SameSite=None` cookies). The new Location has the request's Host if its port is the gateway's port, otherwise the bind address. `pass` changes nothing.", .words = "rewrite pass"},

  {.path = "admin", .kind = mapping, .standard = "{bind: 127.0.0.1:3129, allow_remote: false}", .sentence = "The listener for metrics, health and status. `off` disables it.", .words = "off"},
  {.path = "admin.bind", .kind = endpoint, .standard = "127.0.0.1:3129", .sentence = "A numeric address and a port. Port 0 binds a free port, which is logged. `off` disables this listener; `control` can still be set.", .words = "off"},
  {.path = "admin.allow_remote", .kind = boolean, .standard = "false", .sentence = "`true` permits an address that other machines can reach; these get only /metrics, /livez and /readyz. `false` permits only loopback addresses."},
  {.path = "admin.control", .kind = file, .standard = "none", .sentence = "Path of a unix socket (mode 0600) for the commands `reprise reload`, `drain`, `quit`, `status`, `log` and `pause`. The folder must exist.", .words = "none"},

  {.path = "parent", .kind = parent, .standard = "none", .sentence = "Another proxy through which reprise reaches all upstreams. With `https://`, the connection to this proxy uses TLS. The parent resolves the names of the upstreams. Write user and password percent-encoded; they are sent as `Proxy-Authorization: Basic`.", .words = "none"},
  {.path = "parent.url", .kind = parent, .standard = "", .sentence = "The URL of the parent. To set `ca_file` or `except` too, write `parent` as a mapping with this key."},
  {.path = "parent.ca_file", .kind = file, .standard = "system", .sentence = "PEM file with the only certificates that are trusted for a parent with `https://`. They are not trusted for upstreams.", .words = "system"},
  {.path = "parent.except", .kind = list, .standard = "[]", .sentence = "Hosts that are reached without the parent: names, `*.suffix`, addresses and networks. A network matches only hosts that are written as addresses, because names are not resolved for this list.", .item = destination},

  {.path = "defaults", .kind = mapping, .standard = "", .sentence = "Settings that every route inherits. They also apply to requests that match no route."},
  {.path = "defaults.mode", .kind = word, .standard = "active", .sentence = "`active` retries. `observe` decides and counts, but does not retry. `off` forwards requests without retries.", .words = "active observe off"},
  {.path = "defaults.idempotent", .kind = rule, .standard = "by_method", .sentence = "Which requests are safe to send again, even if some of their bytes may have reached the upstream.", .words = "always never by_method"},
  {.path = "defaults.retry", .kind = mapping, .standard = "", .sentence = "When to send a request again, and when to stop."},
  {.path = "defaults.retry.on", .kind = list, .standard = "[429, 408, 500, 502, 503, 504, connect, tls, reset, timeout, grpc-unavailable]", .sentence = "Statuses and failures that are retried. `grpc-unavailable` and the other statuses of gRPC, in lower case with `_`, are those of calls that ended before their first message. A list replaces the inherited list.", .words = {retry_on_text.data(), retry_on_text.size()}, .item = status},
  {.path = "defaults.retry.refused", .kind = list, .standard = "[]", .sentence = "Statuses with which this upstream says that it did nothing, such as the 429 of an API that checks the rate limit first. After one of them, a request of any method is sent again if its body is held. After any other outcome, the usual rules apply. A status listed here does not have to be in `on`.", .lowest = "400", .highest = "999", .item = status},
  {.path = "defaults.retry.max_attempts", .kind = whole, .standard = "6", .sentence = "Maximum number of attempts, including the first. With `1`, one repeat after a stale connection is still allowed. `max_attempts` and `deadline` must not both be `unlimited`.", .words = "unlimited", .lowest = "1", .highest = "1000000"},
  {.path = "defaults.retry.deadline", .kind = duration, .standard = "60s", .sentence = "Time from the request head. After it, no attempt starts and no wait ends. It also ends name look-ups, dials and handshakes, and the upload of a repeatable request if the upstream's host has acknowledged no byte of the body. Once a byte of the body is acknowledged, the deadline does not end the upload.", .words = "unlimited", .lowest = "1ms", .highest = year},
  {.path = "defaults.retry.attempt_timeout", .kind = duration, .standard = "none", .sentence = "Maximum time from the last request byte to the response head. It applies to repeatable requests only; see `response_timeout` for others. It applies to gRPC calls only if the route itself has this key, because a call may be silent for minutes.", .words = "none", .lowest = "1ms", .highest = year},
  {.path = "defaults.retry.out_of_time", .kind = word, .standard = "last", .sentence = "What the client gets if the deadline ends the retries after the upstream has responded: `last` is the last response, `504` is a 504.", .words = "last 504"},
  {.path = "defaults.retry.backoff", .kind = mapping, .standard = "{initial: 250ms, multiplier: 2, maximum: 8s, jitter: equal}", .sentence = "The wait before retry n, counted from 0, is d = min(initial * multiplier^n, maximum), changed by `jitter`."},
  {.path = "defaults.retry.backoff.initial", .kind = duration, .standard = "250ms", .sentence = "The first wait, before jitter.", .lowest = "0", .highest = year},
  {.path = "defaults.retry.backoff.multiplier", .kind = number, .standard = "2", .sentence = "Factor by which each wait is longer than the previous one.", .lowest = "1", .highest = "1000"},
  {.path = "defaults.retry.backoff.maximum", .kind = duration, .standard = "8s", .sentence = "The longest wait. A `Retry-After` can ask for a longer one.", .lowest = "0", .highest = year},
  {.path = "defaults.retry.backoff.jitter", .kind = word, .standard = "equal", .sentence = "How the wait is drawn from d. `none`: d. `full`: 0 to d. `equal`: d/2 to d. `additive`: d plus 0 to 1000 ms, at most the maximum. `decorrelated`: from `initial` to 3 times the previous wait, at most the maximum.", .words = "none full equal additive decorrelated"},
  {.path = "defaults.retry.retry_after", .kind = mapping, .standard = "{honour: true, maximum: 60s}", .sentence = "How an upstream's `Retry-After` is used."},
  {.path = "defaults.retry.retry_after.honour", .kind = boolean, .standard = "true", .sentence = "`true`: wait at least as long as the upstream asks."},
  {.path = "defaults.retry.retry_after.maximum", .kind = duration, .standard = "60s", .sentence = "The longest pause that an upstream may ask for. A longer one ends the retries; reprise never shortens it.", .lowest = "0", .highest = year},
  {.path = "defaults.retry.nested", .kind = word, .standard = "allow", .sentence = "Whether to retry a request that is itself a retry of the client.", .words = "allow refuse"},
  {.path = "defaults.retry.inner", .kind = word, .standard = "refuse", .sentence = "Whether to retry a response that another reprise has retried already (`Via` or `Proxy-Status` names that reprise). Failures without a response are retried in any case.", .words = "allow refuse"},
  {.path = "defaults.connect_timeout", .kind = duration, .standard = "5s", .sentence = "Maximum time to connect to one address, including the TLS handshake. All addresses of one attempt together have at most twice this time.", .lowest = "1ms", .highest = year},
  {.path = "defaults.response_timeout", .kind = duration, .standard = "none", .sentence = "Maximum time to the response head if `attempt_timeout` does not apply. If it ends an attempt of a repeatable request, the failure is a `timeout`. It applies to gRPC calls only if the route itself has this key. `none`: only TCP detects dead peers.", .words = "none", .lowest = "1ms", .highest = year},
  {.path = "defaults.idle_timeout", .kind = duration, .standard = "none", .sentence = "Maximum time between two reads or writes of a body or a tunnel. It applies to gRPC calls only if the route itself has this key. `none`: a stream may be idle for days; TCP detects dead peers.", .words = "none", .lowest = "1ms", .highest = year},
  {.path = "defaults.budget", .kind = mapping, .standard = "{ratio: 20%, floor: 10/s, window: 10s}", .sentence = "Limit on the retries to one upstream host:port: within `window`, `ratio` of the first attempts plus `floor` per second. `off` disables the limit.", .words = "off"},
  {.path = "defaults.budget.ratio", .kind = ratio, .standard = "20%", .sentence = "Retries allowed per first attempt."},
  {.path = "defaults.budget.floor", .kind = rate, .standard = "10/s", .sentence = "Retries per second that are always allowed.", .lowest = "0", .highest = "1000000/s"},
  {.path = "defaults.budget.window", .kind = duration, .standard = "10s", .sentence = "The length of time over which attempts and retries are counted.", .lowest = "100ms", .highest = "1h"},
  {.path = "defaults.replay", .kind = mapping, .standard = "{memory: 256KiB, disk: 64MiB}", .sentence = "How much of a request body is held, so that it can be sent again."},
  {.path = "defaults.replay.memory", .kind = size, .standard = "256KiB", .sentence = "Maximum size of a body held in memory, per request. A longer body goes to disk.", .lowest = "0", .highest = "1GiB"},
  {.path = "defaults.replay.disk", .kind = size, .standard = "64MiB", .sentence = "Maximum size of a body held in a temporary file, per request. The file is written while the body is sent. A longer body is sent only once.", .lowest = "0", .highest = "1024GiB"},
  {.path = "defaults.resume", .kind = mapping, .standard = "{enabled: true, max_attempts: 10, stall: 30s, validators: [etag, x-goog-generation, x-amz-version-id]}", .sentence = "Continues a download that breaks in its body: a GET without content coding, if `validators` prove that the content is the same version. `off` disables it. If an inherited setting is `off`, a mapping without `enabled` switches it on again.", .words = "off"},
  {.path = "defaults.resume.enabled", .kind = boolean, .standard = "true", .sentence = "`false`: a broken download is not continued, and the client sees the break."},
  {.path = "defaults.resume.max_attempts", .kind = whole, .standard = "10", .sentence = "Maximum number of attempts in a row without progress. Each one waits for the backoff and uses the budget. `retry.max_attempts` and `retry.deadline` do not apply.", .lowest = "1", .highest = "1000000"},
  {.path = "defaults.resume.stall", .kind = duration, .standard = "30s", .sentence = "If a download that can be continued brings no byte for this time, reprise requests the rest on a second connection. The first stays open, and the connection that brings a byte first is kept.", .lowest = "1ms", .highest = year},
  {.path = "defaults.resume.validators", .kind = list, .standard = "[etag, x-goog-generation, x-amz-version-id]", .sentence = "Response fields that identify one version of the content, at most 8. `etag` means a strong ETag, checked with If-Range. Any other field is used if there is no strong ETag; it must have the same value in the first response and in the continuation. A list replaces the default; a list without `etag` ignores ETags.", .item = version_field},
  {.path = "defaults.hold", .kind = mapping, .standard = "off", .sentence = "Holds back the beginning of a response, so that a break or an error in it can still be retried. It applies to every response that `retry.on` does not list. `off` disables it.", .words = "off"},
  {.path = "defaults.hold.bytes", .kind = size, .standard = "0", .sentence = "The response is held until this many bytes of its body have arrived, or the whole body, or the first event of an event stream. 0 holds only what `hold.body` needs.", .lowest = "0", .highest = "1MiB"},
  {.path = "defaults.hold.time", .kind = duration, .standard = "1s", .sentence = "Maximum time from the response head. After it, the held part is released, so that a slow response is not delayed further.", .lowest = "1ms", .highest = "1h"},
  {.path = "defaults.hold.body", .kind = predicates, .standard = "", .sentence = "Conditions on a response. A response that matches one is retried as if its status were in `retry.on`. Conditions on the body read at most `hold.bytes` of it, or 16KiB if that is 0. Conditions on a header read no body."},
  {.path = "defaults.hedge", .kind = mapping, .standard = "off", .sentence = "Sends a hedged request beside a slow first attempt; the first good response wins. Only for idempotent requests whose body is held, once per request, and it uses the same budget as retries. `off` disables it.", .words = "off"},
  {.path = "defaults.hedge.after", .kind = duration, .standard = "200ms", .sentence = "Time without a response head after which the hedged request is sent. If the body of the request is still being sent then, the hedged request follows when all of it is sent. `p95`: the 95th percentile of this time over the route's last 200 first attempts with a good response; with fewer than 20 of them, no hedged request is sent.", .words = "p95", .lowest = "1ms", .highest = "1h"},
  {.path = "defaults.circuit", .kind = mapping, .standard = "off", .sentence = "Stops sending to an upstream host:port that fails, then sends single probes until one succeeds. `off` disables it.", .words = "off"},
  {.path = "defaults.circuit.failures", .kind = ratio, .standard = "50%", .sentence = "The circuit opens if at least this fraction of the attempts within `window` failed. An attempt fails if it gets no response, a 5xx, or a gRPC status that `retry.on` lists.", .lowest = "1%", .highest = "100%"},
  {.path = "defaults.circuit.window", .kind = duration, .standard = "10s", .sentence = "The length of time over which attempts are counted.", .lowest = "100ms", .highest = "1h"},
  {.path = "defaults.circuit.requests", .kind = whole, .standard = "20", .sentence = "Minimum number of attempts within `window` before the circuit can open.", .lowest = "1", .highest = "1000000"},
  {.path = "defaults.circuit.open", .kind = duration, .standard = "5s", .sentence = "Time for which an open circuit sends nothing. Then one probe is sent.", .lowest = "1ms", .highest = "1h"},
  {.path = "defaults.host_pause", .kind = word, .standard = "off", .sentence = "What requests do while their upstream has asked for a pause. `off`: they are sent. `wait`: they wait for its end, plus a random time of at most `backoff.initial`. `fail`: they fail at once.", .words = "off wait fail"},
  {.path = "defaults.tunnel", .kind = mapping, .standard = "{replay_client_hello: false}", .sentence = "Settings for CONNECT tunnels."},
  {.path = "defaults.tunnel.replay_client_hello", .kind = boolean, .standard = "false", .sentence = "`true`: dials again and resends the ClientHello if the upstream closes the connection before it sends a byte. This applies only if the client has sent exactly one complete TLS ClientHello, without early data. The failure counts as `tls`, so `retry.on` must list `tls`."},
  {.path = "defaults.signature", .kind = mapping, .standard = "{sigv4: false, one_time: true}", .sentence = "Settings for requests whose credentials expire."},
  {.path = "defaults.signature.sigv4", .kind = boolean, .standard = "false", .sentence = "`true`: does not start an attempt that cannot arrive before the AWS signature (version 4) expires."},
  {.path = "defaults.signature.one_time", .kind = boolean, .standard = "true", .sentence = "`true`: a request with credentials that are valid only once (OAuth 1 nonce, DPoP) is not sent again after any of its bytes was sent."},
  {.path = "defaults.ambiguous", .kind = word, .standard = "auto", .sentence = "What the client gets if an attempt of an unsafe method was sent and got no response, and a later attempt got 401, 403, 404, 405, 409, 410, 412 or 422. That status may be caused by the repeat. `failure`: the failure of the lost attempt (502 or 504, `ambiguous_outcome`). `response`: the later response, with `Reprise-Ambiguous: true`. `auto`: `failure` if the request is idempotent only by its method, `response` if a rule of the route calls it idempotent.", .words = "auto failure response"},
  {.path = "defaults.http2", .kind = word, .standard = "auto", .sentence = "Whether requests are sent over HTTP/2. `auto`: over HTTP/2 if the client uses it and the upstream speaks it, else over HTTP/1. `always`: HTTP/2 or failure, also for HTTP/1 clients: over TLS, only `h2` is offered; in clear text, reprise assumes that the upstream speaks HTTP/2 (prior knowledge). Requests of HTTP/1 clients that ask to switch protocols (`Upgrade`) are always sent over HTTP/1. `never`: HTTP/1.", .words = "auto always never"},
  {.path = "defaults.refused_stream", .kind = word, .standard = "trust", .sentence = "Whether REFUSED_STREAM of an HTTP/2 upstream proves that the upstream did nothing. `trust`: yes, so a request of any method is sent again. `doubt`: no; use it for an upstream behind HAProxy, which refuses streams whose request it has passed on already.", .words = "trust doubt"},
  {.path = "defaults.on_broken", .kind = word, .standard = "auto", .sentence = "What the client gets if a `not_idempotent` request was sent once and the upstream connection broke before any response byte. `respond`: a 502. `close`: the client's connection is closed, for clients that resend only if their connection closes. `auto`: `close` for transparent and intercepted clients if this was the first request on their connection, or if the upstream connection was reused too; `respond` in all other cases, because a client that resends when a reused connection breaks would send the request twice. After a repeat, the client always gets a 502.", .words = "auto respond close"},
  {.path = "defaults.via", .kind = word, .standard = "auto", .sentence = "Whether requests get `Via`. `auto` adds it only for a parent, for a loopback upstream, and for clients of a listener that other hosts can reach; other requests get none, because nginx does not compress responses to requests with `Via`. Responses to clients always get `Via`.", .words = "auto true false"},
  {.path = "defaults.tls", .kind = mapping, .standard = "off", .sentence = "TLS to upstreams. Upstreams of https:// targets always use TLS; `originate` uses it for http:// targets too. `tls: originate` and `tls: off` set only the key `originate` and keep the other keys.", .words = "off originate"},
  {.path = "defaults.tls.originate", .kind = boolean, .standard = "false", .sentence = "`true`: the client uses http://, and the upstream is reached by https://. Port 80 becomes 443; other ports stay the same. Does not apply to CONNECT."},
  {.path = "defaults.tls.ca_file", .kind = file, .standard = "system", .sentence = "PEM file with the only certificates that are trusted for upstreams. It may contain revocation lists (CRLs). `system`: the certificates of the host, or those that `SSL_CERT_FILE` and `SSL_CERT_DIR` name.", .words = "system"},
  {.path = "defaults.tls.certificate", .kind = file, .standard = "none", .sentence = "PEM file with the client certificate for upstreams that request one, followed by its chain. Needs `key`.", .words = "none"},
  {.path = "defaults.tls.key", .kind = file, .standard = "none", .sentence = "PEM file with the private key of `certificate`. An encrypted key needs `key_passphrase`.", .words = "none"},
  {.path = "defaults.tls.key_passphrase", .kind = text, .standard = "none", .sentence = "Passphrase of an encrypted `key`. Write `${file:/path}` or `${env:NAME}` to keep it out of the configuration file.", .words = "none"},
  {.path = "defaults.tls.server_name", .kind = text, .standard = "none", .sentence = "Name to send (SNI) and to verify in the certificate, instead of the name that is dialled.", .words = "none"},
  {.path = "defaults.request_body", .kind = size, .standard = "unlimited", .sentence = "Maximum size of a request body; a longer one is rejected with 413. If the length is known, the request is rejected before anything is sent, otherwise as soon as the limit is exceeded. `limits.request_body` applies too.", .words = "unlimited", .lowest = "0", .highest = "1024GiB"},
  {.path = "defaults.response_headers", .kind = word, .standard = "true", .sentence = "Which headers the client gets. `true`: `Reprise-Attempts` and `Reprise-Reason`. `all`: also `Reprise-Request-Id`, for `reprise explain --request-id`. `false`: none of them.", .words = "false true all"},
  {.path = "defaults.attempt_header", .kind = boolean, .standard = "false", .sentence = "`true`: sends `Reprise-Attempt` to the upstream, from attempt 1 on."},

  {.path = "policies", .kind = mapping, .standard = "", .sentence = "Named sets of route settings; a route uses one with `policy`. The policies of every shipped preset are available by name."},
  {.path = "policies.*", .kind = mapping, .standard = "", .sentence = "Any key of `defaults`, under a name of your choice."},

  {.path = "routes", .kind = list, .standard = "[]", .sentence = "Rules for requests; the first route that matches a request applies. At most 1000 routes."},
  {.path = "routes[].name", .kind = route, .standard = "", .sentence = "Unique name, required; metrics and logs use it. `default` is reserved for requests that match no route."},
  {.path = "routes[].match", .kind = mapping, .standard = "{}", .sentence = "Conditions that must all hold. A route without conditions matches every request."},
  {.path = "routes[].match.host", .kind = host, .standard = "", .sentence = "An exact host name, or `*.suffix` for every name below the suffix."},
  {.path = "routes[].match.hosts", .kind = list, .standard = "[]", .sentence = "A list of hosts, written as in `host`; one of them must match.", .item = host},
  {.path = "routes[].match.port", .kind = whole, .standard = "", .sentence = "The upstream's port.", .lowest = "1", .highest = "65535"},
  {.path = "routes[].match.path", .kind = path, .standard = "/**", .sentence = "The raw path that the upstream gets, still percent-encoded: on a gateway, with the path of its `upstream`. `{x}` is one segment; `**` at the end is the rest of the path."},
  {.path = "routes[].match.methods", .kind = list, .standard = "[]", .sentence = "A list of methods, in upper case; one of them must match.", .item = method},
  {.path = "routes[].match.query", .kind = pairs, .standard = "", .sentence = "Query parameters that must be present, percent-encoded as sent: a list of `name` or `name=value`, or a mapping `name: value`. The value `\"*\"`, or no value, accepts any value. The name `\"*\"` alone means any parameter without a value, such as `?acl`. `\"!a,b*\"` means any parameter without a value, or any parameter that is not `a` and does not begin with `b`."},
  {.path = "routes[].match.headers", .kind = pairs, .standard = "", .sentence = "Header fields that must be present, written as in `query`."},
  {.path = "routes[].match.grpc", .kind = list, .standard = "[]", .sentence = "A list of methods of gRPC calls, as `SERVICE/METHOD` with the full name of the service; one of them must match. Service and method may each begin or end with one `*`: `*/*` matches every call. A call is a POST with the `Content-Type` `application/grpc`, also with `+` or `;` after it.", .item = grpc_method},
  {.path = "routes[].policy", .kind = name, .standard = "", .sentence = "Name of a policy, from `policies` or a preset. Its keys override `defaults`; the route's own keys override the policy."},

  {.path = "presets", .kind = list, .standard = "", .sentence = "Shipped sets of routes, appended after the file's own routes. Routes with `match.grpc` come before the other routes of presets, and among them those with hosts come first. Each item is a name, or a mapping with `name` and the keys to change. `reprise config --preset NAME` prints a preset."},
  {.path = "presets[].name", .kind = word, .standard = "", .sentence = "Name of the preset, required. Each preset may be listed once.", .words = "aws consul gcs gcs-metadata git google-grpc grpc gsutil health llm memorystore oci vault"},
  {.path = "presets[].hosts", .kind = list, .standard = "", .sentence = "Hosts of the service, instead of the preset's hosts. If a preset has separate routes for exact names and for `*.suffix`, each route gets the hosts of its kind, and is left out if there are none.", .item = host},
  {.path = "presets[].policy", .kind = name, .standard = "", .sentence = "Name of a policy, from `policies` or a preset. Its keys override the preset's policy, but not a route's own keys."},

  {.path = "intercept", .kind = mapping, .standard = "", .sentence = "Hosts whose HTTPS requests are retried. reprise terminates the TLS of their clients with certificates of a local authority, which the clients must trust. Upstream certificates are still verified. All other hosts are tunnelled unread."},
  {.path = "intercept.hosts", .kind = list, .standard = "", .sentence = "Exact names and `*.suffix`, at least one. Addresses are not allowed, because a client that sends no name (SNI) is tunnelled.", .item = host},
  {.path = "intercept.ca", .kind = mapping, .standard = "", .sentence = "The local authority. It is valid only for the listed hosts. `reprise ca init` creates it; `reprise ca renew` renews it after the hosts have changed, or before it expires."},
  {.path = "intercept.ca.certificate", .kind = file, .standard = "", .sentence = "PEM file with the authority's certificate."},
  {.path = "intercept.ca.key", .kind = file, .standard = "", .sentence = "PEM file with the authority's private key. Only its owner may read it (mode 0600)."},
  {.path = "intercept.bundle", .kind = file, .standard = "none", .sentence = "PEM file that reprise writes for applications: the system's roots and the authority. Beside it, reprise writes a truststore for Java with the same content (`.p12`, password `changeit`). `none`: neither file is written.", .words = "none"},

  {.path = "security", .kind = mapping, .standard = "", .sentence = "Addresses and ports that must not be dialled."},
  {.path = "security.deny", .kind = list, .standard = "[169.254.0.0/16, 100.100.100.200, 192.0.0.192, \"fe80::/10\", \"fd00:ec2::254\", self]", .sentence = "Networks that must not be dialled; resolved addresses are checked. The default covers cloud metadata and link-local addresses. `self` means the proxy's own listeners. A list replaces the default.", .words = "self", .item = network},
  {.path = "security.connect_ports", .kind = list, .standard = "auto", .sentence = "Ports that CONNECT may use: numbers, and ranges such as `1024-65535`. `auto`: any port through a listener that only this host can reach, because its clients could dial that port themselves; only 443, 80 and 8443 through a listener that other hosts can reach.", .item = ports, .instead = "auto"},

  {.path = "limits", .kind = mapping, .standard = "", .sentence = "Limits of one process."},
  {.path = "limits.connections", .kind = whole, .standard = "4096", .sentence = "Maximum number of client connections.", .lowest = "1", .highest = "1000000"},
  {.path = "limits.admin_connections", .kind = whole, .standard = "64", .sentence = "Maximum number of connections to the admin listener. A further connection closes the one that has been idle longest.", .lowest = "1", .highest = "10000"},
  {.path = "limits.header", .kind = size, .standard = "64KiB", .sentence = "Maximum size of the header fields of one request (without its request line), or of one response head.", .lowest = "1KiB", .highest = "1MiB"},
  {.path = "limits.header_fields", .kind = whole, .standard = "256", .sentence = "Maximum number of field lines in one head.", .lowest = "8", .highest = "10000"},
  {.path = "limits.target", .kind = size, .standard = "64KiB", .sentence = "Maximum size of one request target.", .lowest = "256B", .highest = "1MiB"},
  {.path = "limits.request_body", .kind = size, .standard = "unlimited", .sentence = "Maximum size of a request body on any route; a longer one is rejected with 413.", .words = "unlimited", .lowest = "0", .highest = "1024GiB"},
  {.path = "limits.replay_memory", .kind = size, .standard = "64MiB", .sentence = "Maximum size of all request bodies held in memory, including data on its way to disk. If the file does not set this key, the limit is at most a quarter of the memory limit of the control group (cgroup) at startup.", .lowest = "0", .highest = "1024GiB"},
  {.path = "limits.stream_memory", .kind = size, .standard = "64MiB", .sentence = "Maximum size of all heads and body bytes that HTTP/2 connections have received and not yet passed on. At the limit, each stream keeps at least 16 KiB, or 64 KiB for a stream of a client, so that all make progress. If the file does not set this key, the limit is at most a quarter of the memory limit of the control group (cgroup) at startup.", .lowest = "1MiB", .highest = "1024GiB"},
  {.path = "limits.streams", .kind = whole, .standard = "100", .sentence = "Maximum number of requests that one HTTP/2 connection of a client may have under way. Further ones are refused (REFUSED_STREAM), and clients send them later.", .lowest = "1", .highest = "10000"},
  {.path = "limits.replay_disk", .kind = size, .standard = "1GiB", .sentence = "Maximum size of all temporary files. 0: no request body is written to disk.", .lowest = "0", .highest = "1024GiB"},
  {.path = "limits.replay_folder", .kind = folder, .standard = "/tmp", .sentence = "Absolute path of the folder for temporary files. The files have no name, and disappear when the process ends."},
  {.path = "limits.kept_response", .kind = size, .standard = "64KiB", .sentence = "Maximum size of the body of a failed response that is kept during a wait, so that the client can get that response if no better one follows.", .lowest = "0", .highest = "16MiB"},
  {.path = "limits.labelled_upstreams", .kind = whole, .standard = "32", .sentence = "Number of upstreams with their own metric label, in addition to those that the configuration names. The first ones that receive a request get a label; the rest are `other`.", .lowest = "0", .highest = "1000"},
  {.path = "limits.upstreams", .kind = whole, .standard = "1024", .sentence = "Maximum number of entries in each table per host: pools, budgets, names. The oldest idle entry is evicted first.", .lowest = "1", .highest = "1000000"},
  {.path = "limits.stories", .kind = size, .standard = "1MiB", .sentence = "Memory of each thread for the histories of its last requests, which `reprise explain --request-id` and the status page show. Half of it is for requests that were retried, refused or failed. 0: no history is kept.", .lowest = "0", .highest = "256MiB"},

  {.path = "timers", .kind = mapping, .standard = "", .sentence = "Time limits for clients."},
  {.path = "timers.header", .kind = duration, .standard = "10s", .sentence = "Maximum time for one request head, from its first byte.", .lowest = "1ms", .highest = year},
  {.path = "timers.keep_alive", .kind = duration, .standard = "5m", .sentence = "Maximum time between two requests on a connection.", .lowest = "1ms", .highest = year},
  {.path = "timers.handshake", .kind = duration, .standard = "10s", .sentence = "Maximum time for a client's TLS handshake, from its first byte, and for a SOCKS greeting.", .lowest = "1ms", .highest = year},

  {.path = "pool", .kind = mapping, .standard = "", .sentence = "Idle upstream connections that are kept for later requests."},
  {.path = "pool.idle", .kind = whole, .standard = "32", .sentence = "Maximum number of idle connections per upstream host:port and thread. 0: none are kept.", .lowest = "0", .highest = "10000"},
  {.path = "pool.idle_timeout", .kind = duration, .standard = "30s", .sentence = "Maximum idle time of a connection. An upstream's own `Keep-Alive: timeout` shortens it.", .lowest = "1ms", .highest = year},
  {.path = "pool.max_age", .kind = duration, .standard = "60s", .sentence = "Maximum age of a connection; it closes after its current response. The age varies by 20 %, so that a burst of connections does not expire at once. Closing old connections makes reprise follow a name whose addresses change, even under steady traffic. A connection that is bound to its client (NTLM) does not expire. `none`: no limit.", .words = "none", .lowest = "1ms", .highest = year},
  {.path = "pool.http2_connections", .kind = whole, .standard = "32", .sentence = "Maximum number of HTTP/2 connections per upstream host:port and thread. Up to this number, each client connection has its own connections to an upstream. Beyond it, clients share them; a request that finds no free stream waits, in order of arrival, until its deadline.", .lowest = "1", .highest = "10000"},

  {.path = "shutdown", .kind = mapping, .standard = "", .sentence = "What happens after SIGTERM."},
  {.path = "shutdown.linger", .kind = duration, .standard = "0s", .sentence = "Time after SIGTERM for which new connections are still accepted.", .lowest = "0", .highest = "1h"},
  {.path = "shutdown.grace", .kind = duration, .standard = "30s", .sentence = "Time after `linger` for requests in progress to finish.", .lowest = "0", .highest = "24h"},

  {.path = "reload", .kind = mapping, .standard = "{watch: true}", .sentence = "When the configuration is read again."},
  {.path = "reload.watch", .kind = boolean, .standard = "true", .sentence = "`true`: reads the configuration again when its file, or a file that it names, changes. `false`: reads it again only after SIGHUP or `reprise reload`."},

  {.path = "log", .kind = mapping, .standard = "", .sentence = "The log on stderr."},
  {.path = "log.level", .kind = word, .standard = "info", .sentence = "The least severe level that is written.", .words = "error warn info debug"},
  {.path = "log.format", .kind = word, .standard = "auto", .sentence = "`auto`: text on a terminal, JSON elsewhere. `otel`: JSON with the field names of OpenTelemetry's semantic conventions. `reprise log-format` prints both sets of names.", .words = "auto json text otel"},
  {.path = "log.access", .kind = boolean, .standard = "true", .sentence = "`true`: writes one line per request."},
  {.path = "log.path", .kind = word, .standard = "full", .sentence = "What the line of a request contains: `full` is the path without its query, `route` is only the route's name.", .words = "full route"},

  {.path = "trace", .kind = mapping, .standard = "", .sentence = "Export of spans to a collector."},
  {.path = "trace.otlp", .kind = collector, .standard = "none", .sentence = "Collector that receives spans as OTLP/HTTP JSON: `http://host:port`, or `https://host` with a certificate that verifies. Without a path, spans are posted to `/v1/traces`. If the file does not set this key, `OTEL_EXPORTER_OTLP_ENDPOINT` applies.", .words = "none"},
  {.path = "trace.sample", .kind = ratio, .standard = "100%", .sentence = "Fraction of the requests without `traceparent` that get spans, if they succeeded at the first attempt. Requests that were retried, refused, cut or failed always get spans. If a request has a `traceparent`, only its sampled flag decides."},

  {.path = "threads", .kind = whole, .standard = "1", .sentence = "Number of threads. Each has its own connections; a sidecar needs only one. A value above the number of processors that the control group allows causes a warning.", .lowest = "1", .highest = "64"},
});
// clang-format on

/// An enumerator whose word in the configuration differs from its C++ name, because the word is not a valid
/// C++ name or is clearer.
struct Spelling {
  std::string_view enumerator;
  std::string_view word;
};
constexpr auto spellings = std::to_array<Spelling>({
    {"gateway_timeout", "504"},
    {"go", "off"},
    {"automatic", "auto"},
});
constexpr auto response_headers = std::to_array<Spelling>({{"none", "false"}, {"outcome", "true"}});
constexpr auto add_via =
    std::to_array<Spelling>({{"automatic", "auto"}, {"always", "true"}, {"never", "false"}});

consteval std::string_view written(std::string_view enumerator, std::span<const Spelling> special) {
  const auto found = std::find_if(special.begin(), special.end(),
                                  [&](const Spelling& each) { return each.enumerator == enumerator; });
  return found == special.end() ? enumerator : found->word;
}

/// Returns `path` if the words of the key at `path` match the enumerators of `Enum` in order; otherwise an
/// empty text. Reading and printing rely on this order, so it is checked at compile time.
template <typename Enum>
consteval std::string_view follows(std::string_view path, std::span<const Spelling> special = spellings) {
  const auto key =
      std::find_if(table.begin(), table.end(), [&](const Key& each) { return each.path == path; });
  std::string_view left = key->words;
  for (const std::string_view name : policy::names_of<Enum>) {
    if (left.substr(0, left.find(' ')) != written(name, special)) return "";
    left.remove_prefix(std::min(left.find(' '), left.size() - 1) + 1);
  }
  return left.empty() ? path : "";
}

constexpr auto proved = std::to_array<std::string_view>({
    follows<ListenerMode>("listeners[].mode"),
    follows<GatewayHost>("listeners[].host"),
    follows<GatewayRedirects>("listeners[].redirects"),
    follows<policy::Mode>("defaults.mode"),
    follows<policy::OutOfTime>("defaults.retry.out_of_time"),
    follows<policy::Jitter>("defaults.retry.backoff.jitter"),
    follows<policy::Nested>("defaults.retry.nested"),
    follows<policy::Nested>("defaults.retry.inner"),
    follows<policy::WhilePaused>("defaults.host_pause"),
    follows<policy::Ambiguous>("defaults.ambiguous"),
    follows<policy::OnBroken>("defaults.on_broken"),
    follows<policy::AddVia>("defaults.via", add_via),
    follows<policy::UseHttp2>("defaults.http2"),
    follows<policy::RefusedStream>("defaults.refused_stream"),
    follows<policy::ResponseHeaders>("defaults.response_headers", response_headers),
    follows<LogLevel>("log.level"),
    follows<LogFormat>("log.format"),
    follows<LogPath>("log.path"),
});

// The words of `presets[].name` are the names of presets, so they belong to no enumeration.
static_assert(std::all_of(table.begin(), table.end(),
                          [](const Key& key) {
                            const bool is_proved =
                                std::find(proved.begin(), proved.end(), key.path) != proved.end();
                            return key.kind != word || is_proved || key.path == "presets[].name";
                          }),
              "the words of a key are the enumerators' names, or their spellings: see follows<>()");

}  // namespace

std::span<const Key> all_keys() { return table; }

}  // namespace reprise::config
