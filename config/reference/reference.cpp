#include "config/reference/reference.hpp"

#include <string_view>

#include "config/keys/keys.hpp"
#include "config/keys/shortcut_table.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view introduction = R"(# Configuration

The configuration is one YAML file, given with `-c`. Every key has a default; a file needs only `version: 1`.
`reprise check -c reprise.yaml` reports every mistake in one run, as `file:line:col: error: path: message`.
`reprise config --effective -c reprise.yaml` prints the effective configuration.

- [reprise.yaml](reprise.yaml) is a commented file with all defaults; [examples](examples) has complete setups.
- [schema.json](schema.json) is a JSON Schema (draft-07) for editors.
- `reprise config --reference` prints this page. The page and the schema are generated from the key table in `key_table.cpp`.

## How values are written

| kind | examples | rules |
|---|---|---|
| duration | `250ms` `1m30s` `1.5s` | units us, ms, s, m, h, each at most once, largest first; only 0 needs no unit |
| size | `64KiB` `10MB` `512B` | B, KiB, MiB, GiB (powers of 1024), KB, MB, GB (powers of 1000); only 0 needs no unit |
| ratio | `20%` `0.2` | 0 to 1 |
| rate | `10/s` | per second; only 0 needs no unit |
| boolean | `true` `false` | no other word. Files that a YAML 1.1 tool has rewritten are read too: `false` counts as `off` if `off` is a word of the key, and a key `true` under `retry` counts as `on` |
| whole number | `4` | decimal digits, no leading zero |
| address and port | `127.0.0.1:3128` `"[::1]:3128"` | numeric addresses only; port 0 binds a free port |

Unknown keys, duplicate keys, anchors, aliases, tags, tabs, a file over 1 MiB and nesting over 32 levels are errors.

**Replaced text.** Values, but not keys, may contain `${env:NAME}` for an environment variable, `${env:NAME:-default}` for
a variable with a default, and `${file:/path}` for the content of a file of up to 64 KiB, without its last line end. Write
`$${` for a literal `${`. Inside `{..}` and `[..]` such a value needs quotes. Messages never print the inserted text;
`config --effective` prints it, except the password of `parent` and `tls.key_passphrase`.

**Without a file.** Ten settings are also flags of `run`, `exec`, `check` and `config --effective`, and environment
variables. Flags override the file, and the file overrides variables. A flag also overrides the keys of routes, policies
and presets, except `--idempotency-header`, because a route's own `idempotent` says what is safe for its upstream. An
empty variable counts as unset. A wrong flag ends the program with exit code 2, a wrong variable with 78. A reload keeps
flags and variables. `REPRISE_RETRY_DEADLINE` is another name of `REPRISE_DEADLINE`.

<!-- shortcuts -->

**Presets.** `presets: [gcs]` appends the routes of a shipped file, so your own routes always come first.
`reprise config --preset gcs` prints that file; it uses the keys on this page. Your own routes can use the policies of
every preset by name, even if the preset is not listed. `{name: gcs, hosts: [..]}` applies the preset to other hosts; any
other key of an item overrides the preset's.

| preset | for | retried | not retried | source of the settings |
|---|---|---|---|---|
| [gcs](presets/gcs.yaml) | Google Cloud Storage, JSON and XML API | operations that the service calls idempotent, always or because of a precondition | any other write once any of its bytes may have arrived | Google's retry strategy: 1 s to 64 s, 10 minutes |
| [gcs-metadata](presets/gcs-metadata.yaml) | the same, policy `gcs-metadata` | the same | the same | Google's Python library: waits of 1 s, doubled up to 60 s, 2 minutes |
| [gsutil](presets/gsutil.yaml) | the same, policies `gsutil`, `gcloud` | the same | the same | Google's command-line tools: 23 retries, waits of at most 60 s |
| [memorystore](presets/memorystore.yaml) | the administration API of Google Memorystore | by method | POST and PATCH once any of their bytes may have arrived | Google's Memorystore documents: 1 s to 32 s |
| [aws](presets/aws.yaml) | AWS, including throttling errors that are sent as a 400; policies `aws`, `aws-2026`, `aws-2026-dynamodb` | by method; also POST requests whose head names a read of DynamoDB, SQS, Secrets Manager, Systems Manager, KMS, Kinesis or STS | any other POST once any of its bytes may have arrived; any request after its signature has expired | the AWS SDKs, standard mode: 3 attempts, waits of at most 20 s |
| [grpc](presets/grpc.yaml) | gRPC calls to any host | health checks and reflection after `unavailable`, 502, 503, 504 or a broken connection | any other call once any of its bytes may have arrived | this project: 4 attempts, 100 ms to 2 s |
| [google-grpc](presets/google-grpc.yaml) | Google's APIs over gRPC | Get, List, BatchGet and Search after `unavailable`, 502, 503, 504 or a broken connection | any other call once any of its bytes may have arrived; `resource_exhausted` | Google's generated libraries: 100 ms to 60 s, 60 s |
| [git](presets/git.yaml) | git over smart HTTP | fetch and clone | a push; a pack that breaks | this project: 0.5 s to 15 s, 2 minutes |
| [llm](presets/llm.yaml) | language-model APIs | calls that got 429, 503 or 529, or the same error as the first event of a stream | 500, a timeout, a stream that has begun | this project: 0.5 s to 30 s, 5 minutes; a pause that the API asks for overrides the waits |
| [oci](presets/oci.yaml) | registries of container images | by method; any request that got 429 | an upload (POST, PATCH, PUT with `digest`) once any of its bytes may have arrived | this project: 0.5 s to 8 s, 90 s |
| [consul](presets/consul.yaml) | HashiCorp Consul | by method | `?cas=`, events, sessions, transactions; the statuses of an agent's health checks | this project: 0.25 s to 4 s, 30 s |
| [vault](presets/vault.yaml) | HashiCorp Vault, OpenBao | reads, also after a 412 | every write, reads that create credentials, the statuses of `sys/health` | Vault's Go client, with waits up to 4 s, 45 s |
| [health](presets/health.yaml) | health checks at any host | a failure without a response | any status, because the status is the result | this project: 3 attempts in 2 s |

**Which key wins.** The layers are the built-in defaults, `defaults`, the route's `policy`, and the route's own keys. A
later layer overrides an earlier one key by key: a route may override `retry.backoff.jitter` alone. Lists and
`idempotent` are replaced as a whole. For a preset the layers are `defaults`, the preset's policy, the item's `policy`,
the preset's route, and the item's own keys. If a layer has `budget: off`, any key of `budget` in a later layer switches
the budget on again.

Among the routes of presets, those with `match.grpc` come first, and of these, those with hosts: `presets: [gcs, google-grpc]`
gives the gRPC calls of storage.googleapis.com to `google-grpc`, and all other requests to `gcs`.

**gRPC.** A call is judged by its own status if it ended before its first message: `retry.on` lists statuses as
`grpc-unavailable`. A call whose HTTP status is not 200 is judged by that, or by its own status if that is listed. A call is
a POST, so `by_method` retries it only while it is unsent: name the methods that may be executed twice in `match.grpc`, and
write `idempotent: always`. `response_timeout`, `idle_timeout` and `retry.attempt_timeout` apply to calls only if the route
itself has them, not by `defaults` or a policy, because a call may be silent for hours.

**Idempotency.** `idempotent` is `always`, `never`, `by_method`, `{any: [...]}` or `{all: [...]}`. `by_method` means the
methods that the IANA registry calls idempotent: GET, HEAD, OPTIONS, TRACE, PUT, DELETE, and those of WebDAV and others,
such as PROPFIND, REPORT, SEARCH, QUERY, MKCOL, COPY, MOVE. A request that asks for another protocol with `Upgrade` is
not idempotent by its method. `any` and `all` contain conditions:

| condition | true if |
|---|---|
| `{header: NAME}` `{header: NAME=value}` | the field is present with any value, or with that value |
| `{query: NAME}` `{query: NAME=value}` | the parameter is present with any value, or with that value, percent-encoded as sent |
| `{json: KEY}` | the JSON body has that top-level key, not null and not empty; checked only in a body of at most `replay.memory` |
| `{method: NAME}` | the request has that method; `{method: idempotent}` means any method of `by_method` |

**Held responses.** With `hold`, the client gets no part of a response until its whole body has arrived, or `bytes` of
it, or the first event of an event stream (`text/event-stream`), or until `time` is over. If the body breaks before that,
the attempt has failed as `truncated`, which `retry.on` may list (the default does not). If it is not retried, the client
gets the part that arrived, and then the connection breaks. `body` lists predicates: a response that matches one is
retried although its status is not listed. A list matches if one of its items does, an item if all of its keys do:

| predicate | true if |
|---|---|
| `{json: error.type}` | the JSON object has a value at that dotted path, not null and not empty |
| `{json: error.type, equals: overloaded_error}` | the string, number or boolean at that path has that text |
| `{event: error}` | the first event of the event stream has that name; `message` means an event without a name |
| `{event: error, json: error.type, equals: overloaded_error}` | both are true; in an event stream `json` reads the data of the first event |
| `{xml: Code, matches: "*Throttling*"}` | the first element of that name, at any depth, has a text that matches the pattern; `Error.Code` is a `Code` directly in an `Error` |
| `{header: x-amzn-errortype, matches: "Throttling*"}` | the head has that field, and its value matches; no body is needed or held |
| `{status: 400, json: __type, matches: ["*Throttling*", SlowDown]}` | the status is that one (ranges such as `400-403` and `4xx` are possible), and the value matches one of the patterns |
| `{event: error, json: code, equals: slow_down, refused: true}` | the same as without `refused`. `refused: true` says that the upstream did nothing, so a request of any method is sent again, as after a status in `retry.refused` |

A predicate without `status` applies to every response whose status `retry.on` does not list. If `bytes` is 0, a response
is held only if a predicate for its status could match. `matches` is possible wherever `equals` is. It has one pattern or
up to 32; `*` matches any characters, and a pattern must match the whole text, case-sensitive. Without `equals` and
`matches`, the value must be present and not empty.

`json` is read from a whole body of type `application/json`, `application/x-amz-json-*`, any `+json` type, or no type.
`xml` is read from a whole body of type `application/xml`, `text/xml`, any `+xml` type, or no type. A body with a content
coding is not read. In XML, entities are not expanded, name prefixes are ignored, and a text with a document type has no
elements. Whether the request may be sent again is decided as for every other retry.

`always` on a route that matches POST loads with a warning: a request that took effect before its response was lost is
then sent again.

**A parent proxy.** Plain requests go to the parent in absolute-form, and the connections for all hosts share one pool.
Tunnels and TLS use CONNECT, and each host has its own connections. The parent resolves the names. Therefore
`security.deny` applies only to upstreams that are written as addresses, in any spelling, and to the address of the
parent itself. A parent with a denied address is not dialled. Hosts in `except` are dialled directly, as without a parent.
Budgets, circuits and pauses still belong to the upstream. With a gateway's `host: client`, a parent replaces Host by the
authority of the request target (RFC 9112 3.2.2).

**Combinations that are errors.** `retry.max_attempts` and `retry.deadline` are both unlimited; the maximum wait is below
the initial wait; the deadline is shorter than the shortest first wait; other machines can reach a listener without
`allow_remote: true`; two listeners have the same address and port; a `json` condition is set while `replay.memory` is 0,
or in a route whose methods, `Content-Type` or `Content-Encoding` exclude a JSON body; two presets have the same routes;
`trace.otlp` is one of the listeners.
)";

std::string code(std::string_view text) { return text.empty() ? "" : "`" + std::string(text) + "`"; }

void add_row(std::string& page, const Key& key, std::string_view shown) {
  page.append("| ").append(code(shown)).append(" | ").append(expectation(key)).append(" | ");
  page.append(code(key.standard)).append(" | ").append(key.sentence).append(" |\n");
}

constexpr std::string_view head = "\n| key | value | default | meaning |\n|---|---|---|---|\n";

// Adds all keys below a section, depth first, in the order of the table.
void add_section(std::string& page, std::string_view title, std::string_view prefix) {
  bool any = false;
  for (const Key& key : all_keys()) {
    if (!key.path.starts_with(prefix) || key.path.size() == prefix.size()) continue;
    if (!any) page.append("\n## ").append(title).append("\n").append(head);
    any = true;
    add_row(page, key, key.path.substr(prefix.size()));
  }
}

/// Returns the flags and variables in the order of `--help`.
std::string shortcuts_table() {
  std::string table = "| flag | variable | key | meaning |\n|---|---|---|---|\n";
  for (const Shortcut& shortcut : shortcut_table) {
    table.append("| `--").append(shortcut.flag).append(" ").append(shortcut.value).append("` | ");
    table.append(code(variable_of(shortcut))).append(" | ").append(code(shortcut.path)).append(" | ");
    table.append(shortcut.sentence).append(" |\n");
  }
  return table;
}

}  // namespace

std::string reference_markdown() {
  std::string page(introduction);
  constexpr std::string_view mark = "<!-- shortcuts -->\n";
  page.replace(page.find(mark), mark.size(), shortcuts_table());
  page.append("\n## The file\n").append(head);
  for (const Key* key : keys_under("")) add_row(page, *key, key->path);
  for (const Key* key : keys_under("")) {
    if (key->path == "policies") continue;
    if (key->path == "routes") {
      add_section(page, "Items of `routes`, beside every key of `defaults`", "routes[].");
    } else if (key->path == "presets") {
      add_section(page, "Items of `presets`, beside every key of `defaults`", "presets[].");
    } else if (key->path == "defaults") {
      add_section(page, "`defaults`, and the same keys in `policies`, `routes` and `presets`", "defaults.");
    } else if (key->kind == Kind::list) {
      add_section(page, "Items of " + code(key->path), std::string(key->path) + "[].");
    } else {
      add_section(page, code(key->path), std::string(key->path) + ".");
    }
  }
  return page;
}

}  // namespace reprise::config
