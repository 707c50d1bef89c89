#include "config/keys/key_table.hpp"

#include <algorithm>
#include <array>

#include "config/settings.hpp"
#include "proxy/policy/match/enumerators.hpp"

namespace reprise::config {
namespace {

using enum Kind;
constexpr std::string_view year = "8760h";

// The words of `retry.on`, separated by blanks.
constexpr auto failure_text = [] {
  constexpr std::size_t bytes = [] {
    std::size_t sum = policy::failure_words.size() - 1;
    for (const policy::FailureWord& word : policy::failure_words) sum += word.text.size();
    return sum;
  }();
  std::array<char, bytes> text{};
  char* at = text.data();
  for (const policy::FailureWord& word : policy::failure_words) {
    if (at != text.data()) *at++ = ' ';
    at = std::copy(word.text.begin(), word.text.end(), at);
  }
  return text;
}();

// clang-format off
constexpr auto table = std::to_array<Key>({
  {.path = "version", .kind = whole, .standard = "1", .sentence = "The version of this format; it must be there.", .lowest = "1", .highest = "1"},

  {.path = "listeners", .kind = list, .standard = "[{mode: forward, bind: 127.0.0.1:3128}]", .sentence = "Where clients connect. A list in the file replaces the default; at most 64."},
  {.path = "listeners[].mode", .kind = word, .standard = "forward", .sentence = "`forward` is an HTTP proxy (absolute-form and CONNECT); `gateway` stands for one upstream, for clients that know no proxy; `transparent` takes over connections that a rule of this host redirects (`reprise redirect`); `socks` is a SOCKS5 proxy that resolves names itself.", .words = "forward gateway transparent socks"},
  {.path = "listeners[].bind", .kind = endpoint, .standard = "127.0.0.1:3128", .sentence = "A numeric address and a port; port 0 binds a free one, which is logged. Only a forward listener has a default."},
  {.path = "listeners[].allow_remote", .kind = boolean, .standard = "false", .sentence = "Without it, only a loopback address may be bound."},
  {.path = "listeners[].upstream", .kind = upstream, .standard = "", .sentence = "Gateway only: where every request goes. With `https://` over verified TLS, port 443 where none is written."},
  {.path = "listeners[].host", .kind = word, .standard = "upstream", .sentence = "Gateway only: whose Host the upstream sees, and, over TLS, whose name its certificate has to have.", .words = "upstream client"},
  {.path = "listeners[].redirects", .kind = word, .standard = "rewrite", .sentence = "Gateway only. `rewrite` changes the Location of a 3xx at the upstream's own origin, and takes Domain and Secure out of cookies (not of `__Host-`, `__Secure-` and `SameSite=None` cookies), so that they fit the gateway: the request's Host if its port is the gateway's, else the address. `pass` changes nothing.", .words = "rewrite pass"},

  {.path = "admin", .kind = mapping, .standard = "{bind: 127.0.0.1:3129, allow_remote: false}", .sentence = "Metrics, health and status. `off`: no such listener.", .words = "off"},
  {.path = "admin.bind", .kind = endpoint, .standard = "127.0.0.1:3129", .sentence = "A numeric address and a port; port 0 binds a free one, which is logged. `off`: no listener, but `control` may be there.", .words = "off"},
  {.path = "admin.allow_remote", .kind = boolean, .standard = "false", .sentence = "Without it, only a loopback address may be bound. Other machines get only /metrics, /livez and /readyz."},
  {.path = "admin.control", .kind = file, .standard = "none", .sentence = "A unix socket, mode 0600, for commands: `reprise reload`, `drain`, `quit`, `status`, `log`, `pause`. Its folder has to be there.", .words = "none"},

  {.path = "parent", .kind = parent, .standard = "none", .sentence = "Another proxy that everything goes through, over TLS with `https://`; it resolves the upstreams' names. User and password, percent-encoded, are sent to it as `Proxy-Authorization: Basic`.", .words = "none"},
  {.path = "parent.url", .kind = parent, .standard = "", .sentence = "The same, where there is more to say of it."},
  {.path = "parent.ca_file", .kind = file, .standard = "system", .sentence = "The only certificates that are trusted for a parent that is reached over TLS, as PEM; they vouch for no upstream.", .words = "system"},
  {.path = "parent.except", .kind = list, .standard = "[]", .sentence = "Hosts that are reached without the parent: names, `*.suffix`, addresses and networks. A network matches hosts that are written as addresses; no name is resolved for it.", .item = destination},

  {.path = "defaults", .kind = mapping, .standard = "", .sentence = "What every route inherits, and what requests get that no route matches."},
  {.path = "defaults.mode", .kind = word, .standard = "active", .sentence = "`active` retries; `observe` decides and counts, and retries nothing; `off` leaves the request alone.", .words = "active observe off"},
  {.path = "defaults.idempotent", .kind = rule, .standard = "by_method", .sentence = "Which requests are safe to send again although bytes of them may have reached the upstream.", .words = "always never by_method"},
  {.path = "defaults.retry", .kind = mapping, .standard = "", .sentence = "When to send again, and when to stop."},
  {.path = "defaults.retry.on", .kind = list, .standard = "[429, 408, 500, 502, 503, 504, connect, tls, reset, timeout]", .sentence = "Answers and failures worth another attempt. A list replaces the inherited one.", .words = {failure_text.data(), failure_text.size()}, .item = status},
  {.path = "defaults.retry.refused", .kind = list, .standard = "[]", .sentence = "Statuses with which this upstream says that it did nothing, such as 429 of an API that counts requests first. After one of them, a request of any method is sent again if its body is held. The list permits nothing else; a status here need not be in `on`.", .lowest = "400", .highest = "999", .item = status},
  {.path = "defaults.retry.max_attempts", .kind = whole, .standard = "6", .sentence = "Attempts in all, the first included. After a stale connection, `1` allows one repeat all the same. Not unlimited together with `deadline`.", .words = "unlimited", .lowest = "1", .highest = "1000000"},
  {.path = "defaults.retry.deadline", .kind = duration, .standard = "60s", .sentence = "From the request head: no attempt starts and no wait ends after it, and it ends every look-up, dial and handshake, and an upload of a repeatable request if the upstream's host has acknowledged nothing of the body. An upload that has moved is not cut.", .words = "unlimited", .lowest = "1ms", .highest = year},
  {.path = "defaults.retry.attempt_timeout", .kind = duration, .standard = "none", .sentence = "Ends an attempt of a repeatable request that has no response head by then.", .words = "none", .lowest = "1ms", .highest = year},
  {.path = "defaults.retry.out_of_time", .kind = word, .standard = "last", .sentence = "What the client gets when the deadline ends the retries after the upstream has answered: its last answer, or 504.", .words = "last 504"},
  {.path = "defaults.retry.backoff", .kind = mapping, .standard = "{initial: 250ms, multiplier: 2, maximum: 8s, jitter: equal}", .sentence = "The wait before retry n (from 0): d = min(initial * multiplier^n, maximum), then jitter."},
  {.path = "defaults.retry.backoff.initial", .kind = duration, .standard = "250ms", .sentence = "The first wait, before jitter.", .lowest = "0", .highest = year},
  {.path = "defaults.retry.backoff.multiplier", .kind = number, .standard = "2", .sentence = "How much longer each wait is than the one before.", .lowest = "1", .highest = "1000"},
  {.path = "defaults.retry.backoff.maximum", .kind = duration, .standard = "8s", .sentence = "No wait is longer, unless a `Retry-After` asks for it.", .lowest = "0", .highest = year},
  {.path = "defaults.retry.backoff.jitter", .kind = word, .standard = "equal", .sentence = "`none`: d; `full`: 0 to d; `equal`: d/2 to d; `additive`: d plus 0 to 1000 ms, under the maximum; `decorrelated`: initial to 3 times the previous wait.", .words = "none full equal additive decorrelated"},
  {.path = "defaults.retry.retry_after", .kind = mapping, .standard = "{honour: true, maximum: 60s}", .sentence = "What an upstream's `Retry-After` does."},
  {.path = "defaults.retry.retry_after.honour", .kind = boolean, .standard = "true", .sentence = "Wait at least as long as the upstream asks."},
  {.path = "defaults.retry.retry_after.maximum", .kind = duration, .standard = "60s", .sentence = "A longer pause asked for ends the retries; it is never cut short.", .lowest = "0", .highest = year},
  {.path = "defaults.retry.nested", .kind = word, .standard = "allow", .sentence = "Whether to retry when the client is itself on a retry.", .words = "allow refuse"},
  {.path = "defaults.retry.inner", .kind = word, .standard = "refuse", .sentence = "Whether to retry an answer that came through another reprise (its name is in `Via` or `Proxy-Status`), which has retried it already. Failures without an answer are retried.", .words = "allow refuse"},
  {.path = "defaults.connect_timeout", .kind = duration, .standard = "5s", .sentence = "For one address: dial, and TLS handshake. All addresses of an attempt share twice this.", .lowest = "1ms", .highest = year},
  {.path = "defaults.response_timeout", .kind = duration, .standard = "none", .sentence = "To the response head, where `attempt_timeout` does not apply. Of a repeatable request it is a `timeout`. `none`: TCP detects dead peers.", .words = "none", .lowest = "1ms", .highest = year},
  {.path = "defaults.idle_timeout", .kind = duration, .standard = "none", .sentence = "Between two reads or writes of a body or a tunnel. `none`: a stream may be silent for days, TCP detects dead peers.", .words = "none", .lowest = "1ms", .highest = year},
  {.path = "defaults.budget", .kind = mapping, .standard = "{ratio: 20%, floor: 10/s, window: 10s}", .sentence = "How much retrying one upstream host:port may get: ratio of first attempts, plus floor, within window.", .words = "off"},
  {.path = "defaults.budget.ratio", .kind = ratio, .standard = "20%", .sentence = "Retries for each first attempt."},
  {.path = "defaults.budget.floor", .kind = rate, .standard = "10/s", .sentence = "Retries that are always there.", .lowest = "0", .highest = "1000000/s"},
  {.path = "defaults.budget.window", .kind = duration, .standard = "10s", .sentence = "How far back is counted.", .lowest = "100ms", .highest = "1h"},
  {.path = "defaults.replay", .kind = mapping, .standard = "{memory: 256KiB, disk: 64MiB}", .sentence = "How much of a request body is held, so that it can be sent again."},
  {.path = "defaults.replay.memory", .kind = size, .standard = "256KiB", .sentence = "In memory, per request; a longer body goes to disk.", .lowest = "0", .highest = "1GiB"},
  {.path = "defaults.replay.disk", .kind = size, .standard = "64MiB", .sentence = "In a temporary file, per request, written while the body streams; a longer body is sent once.", .lowest = "0", .highest = "1024GiB"},
  {.path = "defaults.resume", .kind = mapping, .standard = "{enabled: true, max_attempts: 10, stall: 30s, validators: [etag, x-goog-generation, x-amz-version-id]}", .sentence = "Downloads (GET, one version of the bytes by `validators`, no content coding) that break mid-body go on where they stopped. Keys without `enabled` switch it on again where an inherited `off` has switched it off.", .words = "off"},
  {.path = "defaults.resume.enabled", .kind = boolean, .standard = "true", .sentence = "Without it, a broken download is cut, visibly."},
  {.path = "defaults.resume.max_attempts", .kind = whole, .standard = "10", .sentence = "In a row that brought no byte. Each waits the backoff and draws on the budget; `retry.max_attempts` and `retry.deadline` do not count here.", .lowest = "1", .highest = "1000000"},
  {.path = "defaults.resume.stall", .kind = duration, .standard = "30s", .sentence = "After so long without a byte of a download that can be continued, the rest is asked for on a second connection while the first stays open; whichever brings a byte first is kept.", .lowest = "1ms", .highest = year},
  {.path = "defaults.resume.validators", .kind = list, .standard = "[etag, x-goog-generation, x-amz-version-id]", .sentence = "Response fields that name one version of the bytes, up to 8. `etag`: a strong one, asked for with If-Range. Any other: where there is no strong ETag, it must be in the first answer and in the one that continues it, and equal. A list replaces the default; one without `etag` uses no ETags.", .item = version_field},
  {.path = "defaults.hold", .kind = mapping, .standard = "off", .sentence = "Keeps the beginning of an answer back, so that a break or an error in it is still a retry. For every answer that `retry.on` does not list.", .words = "off"},
  {.path = "defaults.hold.bytes", .kind = size, .standard = "0", .sentence = "Head and body are held until so many bytes of the body are there, or all of it, or the first event of an event stream. 0: only what `hold.body` needs.", .lowest = "0", .highest = "1MiB"},
  {.path = "defaults.hold.time", .kind = duration, .standard = "1s", .sentence = "From the head of the answer: what is there by then is released, so that a slow or quiet answer is not held up.", .lowest = "1ms", .highest = "1h"},
  {.path = "defaults.hold.body", .kind = predicates, .standard = "", .sentence = "An answer that matches one of these is retried as if its status were listed. Looks at up to `hold.bytes` of a body, or 16KiB where that is 0; at none for a header."},
  {.path = "defaults.hedge", .kind = mapping, .standard = "off", .sentence = "A second copy beside a slow first attempt; the first good answer wins. Idempotent requests whose body is held only, once per request, from the same budget.", .words = "off"},
  {.path = "defaults.hedge.after", .kind = duration, .standard = "200ms", .sentence = "How long the first attempt may be without a response head; `p95`: as long as 95 % of the route's last 200 took (no copy before 20).", .words = "p95", .lowest = "1ms", .highest = "1h"},
  {.path = "defaults.circuit", .kind = mapping, .standard = "off", .sentence = "Stops sending to an upstream host:port that fails, and asks it again by single probes.", .words = "off"},
  {.path = "defaults.circuit.failures", .kind = ratio, .standard = "50%", .sentence = "Share of failed attempts (no answer, or 5xx) within window that opens it.", .lowest = "1%", .highest = "100%"},
  {.path = "defaults.circuit.window", .kind = duration, .standard = "10s", .sentence = "How far back is counted.", .lowest = "100ms", .highest = "1h"},
  {.path = "defaults.circuit.requests", .kind = whole, .standard = "20", .sentence = "Attempts within window before it may open.", .lowest = "1", .highest = "1000000"},
  {.path = "defaults.circuit.open", .kind = duration, .standard = "5s", .sentence = "How long nothing is sent before a probe.", .lowest = "1ms", .highest = "1h"},
  {.path = "defaults.host_pause", .kind = word, .standard = "off", .sentence = "What requests do while their host has asked for a pause: go on, wait for its end (spread by up to the first backoff), or fail at once.", .words = "off wait fail"},
  {.path = "defaults.tunnel", .kind = mapping, .standard = "{replay_client_hello: false}", .sentence = "CONNECT."},
  {.path = "defaults.tunnel.replay_client_hello", .kind = boolean, .standard = "false", .sentence = "While nothing but one whole TLS ClientHello without early data was sent into a tunnel and the upstream ends before its first byte, dial again and send it again: stage `tls`, under `retry.on: tls`."},
  {.path = "defaults.signature", .kind = mapping, .standard = "{sigv4: false, one_time: true}", .sentence = "Requests whose credentials have an end."},
  {.path = "defaults.signature.sigv4", .kind = boolean, .standard = "false", .sentence = "No attempt that cannot arrive before an AWS signature (version 4) has run out."},
  {.path = "defaults.signature.one_time", .kind = boolean, .standard = "true", .sentence = "A request whose credentials are valid once (OAuth 1 nonce, DPoP) is not sent again after any of its bytes was sent."},
  {.path = "defaults.ambiguous", .kind = word, .standard = "auto", .sentence = "What the client gets if an attempt of a method that is not safe was lost and a later one got 401, 403, 404, 405, 409, 410, 412 or 422, which may be about our own repeat: the `failure` of the lost attempt (502 or 504, `ambiguous_outcome`), or the later `response` with `Reprise-Ambiguous: true`. `auto`: the failure if the request is idempotent by its method alone, the response if a rule of the route calls it idempotent.", .words = "auto failure response"},
  {.path = "defaults.on_broken", .kind = word, .standard = "auto", .sentence = "How a client learns that a request which was sent once and must not be repeated (`not_idempotent`) broke without a byte of a response: `respond` gives a 502, `close` ends its connection as the upstream ended its own, for clients that try again by themselves only then. `auto` closes for transparent and intercepted clients, if this was the first request of their connection or the upstream's connection was used before, too: else a client that resends on a reused connection would double what we would not. After a repeat it is always a 502.", .words = "auto respond close"},
  {.path = "defaults.via", .kind = word, .standard = "auto", .sentence = "Whether a request gets `Via`. `auto`: only towards a parent, towards a loopback upstream, and for clients of a listener that other hosts reach; nginx does not compress responses to requests with Via. Responses to clients always get it.", .words = "auto true false"},
  {.path = "defaults.tls", .kind = mapping, .standard = "off", .sentence = "How upstreams are reached over TLS: those of https:// targets always, the others with `originate`. A word alone is the value of `originate`; the other keys stay.", .words = "off originate"},
  {.path = "defaults.tls.originate", .kind = boolean, .standard = "false", .sentence = "The client says http://, the upstream gets https: port 80 becomes 443, any other stays. Not for CONNECT."},
  {.path = "defaults.tls.ca_file", .kind = file, .standard = "system", .sentence = "The only certificates that are trusted, as PEM, and lists (CRLs) of what they revoked, if there are any; `system`: those of the host (and of `SSL_CERT_FILE`, `SSL_CERT_DIR`).", .words = "system"},
  {.path = "defaults.tls.certificate", .kind = file, .standard = "none", .sentence = "What is shown to an upstream that asks for a certificate: PEM, the chain behind it. Needs `key`.", .words = "none"},
  {.path = "defaults.tls.key", .kind = file, .standard = "none", .sentence = "Its private key, PEM; an encrypted one needs `key_passphrase`.", .words = "none"},
  {.path = "defaults.tls.key_passphrase", .kind = text, .standard = "none", .sentence = "What opens an encrypted `key`; write `${file:/path}` or `${env:NAME}`, so that it is in no configuration file.", .words = "none"},
  {.path = "defaults.tls.server_name", .kind = text, .standard = "none", .sentence = "The name that is sent (SNI) and that the certificate must have, in place of the one that is dialled.", .words = "none"},
  {.path = "defaults.request_body", .kind = size, .standard = "unlimited", .sentence = "A request with a longer body is rejected with 413, before anything is sent if its length is known, else as soon as it is longer. `limits.request_body` holds as well.", .words = "unlimited", .lowest = "0", .highest = "1024GiB"},
  {.path = "defaults.response_headers", .kind = word, .standard = "true", .sentence = "`Reprise-Attempts` and `Reprise-Reason` to the client; `all`: `Reprise-Request-Id`, too, by which `reprise explain --request-id` tells.", .words = "false true all"},
  {.path = "defaults.attempt_header", .kind = boolean, .standard = "false", .sentence = "`Reprise-Attempt` to the upstream, from attempt 1 on."},

  {.path = "policies", .kind = mapping, .standard = "", .sentence = "Named bundles of the keys of `defaults`, for routes to use. Those of every shipped preset are there by name."},
  {.path = "policies.*", .kind = mapping, .standard = "", .sentence = "Every key of `defaults`, under a name of your choice."},

  {.path = "routes", .kind = list, .standard = "[]", .sentence = "The first route that matches a request decides about it. At most 1000."},
  {.path = "routes[].name", .kind = route, .standard = "", .sentence = "Must be there, once: metrics and logs use it. `default` is the name of what no route matches."},
  {.path = "routes[].match", .kind = mapping, .standard = "{}", .sentence = "All of these must hold; without any, the route matches everything."},
  {.path = "routes[].match.host", .kind = host, .standard = "", .sentence = "An exact name, or `*.suffix` for every name below it."},
  {.path = "routes[].match.hosts", .kind = list, .standard = "[]", .sentence = "Any of these, each written like `host`.", .item = host},
  {.path = "routes[].match.port", .kind = whole, .standard = "", .sentence = "The upstream's port.", .lowest = "1", .highest = "65535"},
  {.path = "routes[].match.path", .kind = path, .standard = "/**", .sentence = "The raw path, still percent-encoded: `{x}` is one segment, `**` at the end the rest."},
  {.path = "routes[].match.methods", .kind = list, .standard = "[]", .sentence = "Any of these; upper case, as methods are.", .item = method},
  {.path = "routes[].match.query", .kind = pairs, .standard = "", .sentence = "Parameters that must be there, percent-encoded as sent: a list of `name` or `name=value`, or a mapping `name: value`, where `\"*\"` or nothing as value is any. The name `\"*\"` alone stands for any parameter without a value, such as `?acl`; `\"!a,b*\"` stands for that, too, and for any parameter that is neither `a` nor begins with `b`."},
  {.path = "routes[].match.headers", .kind = pairs, .standard = "", .sentence = "Header fields that must be there, written like `query`."},
  {.path = "routes[].policy", .kind = name, .standard = "", .sentence = "One of `policies`, or of the presets' own: its keys win over `defaults`, the route's own win over it."},

  {.path = "presets", .kind = list, .standard = "", .sentence = "Shipped packs of routes, appended after the file's own: names, or items with `name` and what is to differ. `reprise config --preset NAME` prints one."},
  {.path = "presets[].name", .kind = word, .standard = "", .sentence = "Must be there, once.", .words = "aws consul gcs gcs-metadata git gsutil health llm memorystore oci vault"},
  {.path = "presets[].hosts", .kind = list, .standard = "", .sentence = "Where the service is, in place of the preset's hosts. A preset with routes for names and others for `*.suffix` gets each kind for its own; without any of a kind, those routes are left out.", .item = host},
  {.path = "presets[].policy", .kind = name, .standard = "", .sentence = "One of `policies` or of the presets' own: its keys win over the preset's policy, not over a route's own."},

  {.path = "intercept", .kind = mapping, .standard = "", .sentence = "Hosts whose HTTPS is retried: their clients' TLS is ended here, with certificates of a local authority that clients have to trust; upstreams are verified as ever. Every other host is tunnelled unread."},
  {.path = "intercept.hosts", .kind = list, .standard = "", .sentence = "Exact names and `*.suffix`; at least one. No addresses: a client that names none (SNI) is tunnelled.", .item = host},
  {.path = "intercept.ca", .kind = mapping, .standard = "", .sentence = "The authority, which is worth nothing for other hosts. `reprise ca init` makes it, `reprise ca renew` when hosts or time have moved on."},
  {.path = "intercept.ca.certificate", .kind = file, .standard = "", .sentence = "Its certificate, PEM."},
  {.path = "intercept.ca.key", .kind = file, .standard = "", .sentence = "Its private key, PEM; nobody but its owner may read it (0600)."},
  {.path = "intercept.bundle", .kind = file, .standard = "none", .sentence = "Written for applications: the system's roots and the authority, PEM; beside it the same as a truststore for Java, `.p12`, password `changeit`.", .words = "none"},

  {.path = "security", .kind = mapping, .standard = "", .sentence = "What must never be dialled."},
  {.path = "security.deny", .kind = list, .standard = "[169.254.0.0/16, 100.100.100.200, 192.0.0.192, \"fe80::/10\", \"fd00:ec2::254\", self]", .sentence = "Networks that resolved addresses are checked against: cloud metadata, link-local; `self` is the proxy's own listeners. A list replaces the default.", .words = "self", .item = network},
  {.path = "security.connect_ports", .kind = list, .standard = "auto", .sentence = "Where CONNECT may go: ports and ranges such as `1024-65535`. `auto`: any port through a listener that only this host reaches, whose clients could dial themselves; 443, 80 and 8443 through one that others reach.", .item = ports, .instead = "auto"},

  {.path = "limits", .kind = mapping, .standard = "", .sentence = "What one process holds at most."},
  {.path = "limits.connections", .kind = whole, .standard = "4096", .sentence = "Client connections.", .lowest = "1", .highest = "1000000"},
  {.path = "limits.admin_connections", .kind = whole, .standard = "64", .sentence = "Connections to the admin listener. Where one more comes, the one that has been idle longest is closed.", .lowest = "1", .highest = "10000"},
  {.path = "limits.header", .kind = size, .standard = "64KiB", .sentence = "Bytes of the fields of one request, without its request line, or of one head of a response.", .lowest = "1KiB", .highest = "1MiB"},
  {.path = "limits.header_fields", .kind = whole, .standard = "256", .sentence = "Field lines of one head.", .lowest = "8", .highest = "10000"},
  {.path = "limits.target", .kind = size, .standard = "64KiB", .sentence = "Bytes of one request target.", .lowest = "256B", .highest = "1MiB"},
  {.path = "limits.request_body", .kind = size, .standard = "unlimited", .sentence = "A request with a longer body is rejected with 413 on every route.", .words = "unlimited", .lowest = "0", .highest = "1024GiB"},
  {.path = "limits.replay_memory", .kind = size, .standard = "64MiB", .sentence = "Held request bodies of all requests together, and what is on its way to disk. Where the file does not say it, at most a quarter of the memory limit of the control group (cgroup) at the start.", .lowest = "0", .highest = "1024GiB"},
  {.path = "limits.replay_disk", .kind = size, .standard = "1GiB", .sentence = "Temporary files of all requests together; 0: nothing is written to disk.", .lowest = "0", .highest = "1024GiB"},
  {.path = "limits.replay_folder", .kind = folder, .standard = "/tmp", .sentence = "An absolute path: where temporary files go. They have no name, and are gone with the process."},
  {.path = "limits.kept_response", .kind = size, .standard = "64KiB", .sentence = "At most this many body bytes of a failed response are kept during a wait, so that the client can get that response if nothing better follows.", .lowest = "0", .highest = "16MiB"},
  {.path = "limits.labelled_upstreams", .kind = whole, .standard = "32", .sentence = "Upstreams that the configuration does not name and that get a metric label of their own, in the order in which they are met; the rest is `other`.", .lowest = "0", .highest = "1000"},
  {.path = "limits.upstreams", .kind = whole, .standard = "1024", .sentence = "Entries of each table per host: pools, budgets, names. The oldest idle one goes.", .lowest = "1", .highest = "1000000"},
  {.path = "limits.stories", .kind = size, .standard = "1MiB", .sentence = "Memory of each thread for the stories of its last requests, which `reprise explain --request-id` and the status page tell; half of it is for those that were retried, refused or failed. 0: none are kept.", .lowest = "0", .highest = "256MiB"},

  {.path = "timers", .kind = mapping, .standard = "", .sentence = "How long a client may take."},
  {.path = "timers.header", .kind = duration, .standard = "10s", .sentence = "For one request head, from its first byte.", .lowest = "1ms", .highest = year},
  {.path = "timers.keep_alive", .kind = duration, .standard = "5m", .sentence = "Between two requests of a connection.", .lowest = "1ms", .highest = year},
  {.path = "timers.handshake", .kind = duration, .standard = "10s", .sentence = "For a client's TLS handshake, from its first byte, and for a SOCKS greeting.", .lowest = "1ms", .highest = year},

  {.path = "pool", .kind = mapping, .standard = "", .sentence = "Upstream connections that wait for the next request."},
  {.path = "pool.idle", .kind = whole, .standard = "32", .sentence = "How many per upstream host:port and thread; 0 keeps none.", .lowest = "0", .highest = "10000"},
  {.path = "pool.idle_timeout", .kind = duration, .standard = "30s", .sentence = "For how long; an upstream's own `Keep-Alive: timeout` shortens it.", .lowest = "1ms", .highest = year},
  {.path = "pool.max_age", .kind = duration, .standard = "60s", .sentence = "A connection older than this (within 20 %, so that a burst does not expire at once) ends after the response that it carries, so that a name that moves is followed under steady traffic. One that is bound to its client (NTLM) never does. `none`: no limit.", .words = "none", .lowest = "1ms", .highest = year},

  {.path = "shutdown", .kind = mapping, .standard = "", .sentence = "What SIGTERM does."},
  {.path = "shutdown.linger", .kind = duration, .standard = "0s", .sentence = "Goes on accepting for so long.", .lowest = "0", .highest = "1h"},
  {.path = "shutdown.grace", .kind = duration, .standard = "30s", .sentence = "Then lets what is under way finish for so long.", .lowest = "0", .highest = "24h"},

  {.path = "reload", .kind = mapping, .standard = "{watch: true}", .sentence = "When the configuration is read again."},
  {.path = "reload.watch", .kind = boolean, .standard = "true", .sentence = "Reads it again when the file, or a file that it names, has changed. `false`: only after SIGHUP and `reprise reload`."},

  {.path = "log", .kind = mapping, .standard = "", .sentence = "What goes to stderr."},
  {.path = "log.level", .kind = word, .standard = "info", .sentence = "The least severe lines that are written.", .words = "error warn info debug"},
  {.path = "log.format", .kind = word, .standard = "auto", .sentence = "`auto` is text on a terminal and JSON elsewhere. `otel` is JSON with the field names of OpenTelemetry's semantic conventions; `reprise log-format` prints both sets of names.", .words = "auto json text otel"},
  {.path = "log.access", .kind = boolean, .standard = "true", .sentence = "One line per request."},
  {.path = "log.path", .kind = word, .standard = "full", .sentence = "What a line names: the path without query, or the route alone.", .words = "full route"},

  {.path = "trace", .kind = mapping, .standard = "", .sentence = "Spans for a collector."},
  {.path = "trace.otlp", .kind = collector, .standard = "none", .sentence = "Where spans are posted as OTLP/HTTP JSON: `http://host:port`, or `https://host` with a certificate that verifies; to `/v1/traces` where no path is written. If the file does not have this key, `OTEL_EXPORTER_OTLP_ENDPOINT` counts.", .words = "none"},
  {.path = "trace.sample", .kind = ratio, .standard = "100%", .sentence = "How many requests without `traceparent` get spans, of those that went well at once: what was retried, refused, cut or failed always gets them. With a `traceparent`, its sampled flag decides alone."},

  {.path = "threads", .kind = whole, .standard = "1", .sentence = "Each has its own connections; a sidecar needs one. More than the processors that the control group allows are warned of.", .lowest = "1", .highest = "64"},
});
// clang-format on

/// A word of the file for an enumerator. Most words equal the enumerator's name. The words listed here are
/// not valid C++ names, or are clearer.
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

/// Checks at compile time that the words of that key match the enumerators in order. Reading and printing
/// depend on this.
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
    follows<policy::ResponseHeaders>("defaults.response_headers", response_headers),
    follows<LogLevel>("log.level"),
    follows<LogFormat>("log.format"),
    follows<LogPath>("log.path"),
});

// The names of presets are words, but no enumeration belongs to them.
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
