#include "config/reference/reference.hpp"

#include <string_view>

#include "config/keys/keys.hpp"
#include "config/keys/shortcut_table.hpp"

namespace reprise::config {
namespace {

constexpr std::string_view introduction = R"(# Configuration

One YAML file, given with `-c`. Every key has a default; a file needs only `version: 1`.
`reprise check -c reprise.yaml` names every mistake in one run, as `file:line:col: error: path: message`.
`reprise config --effective -c reprise.yaml` prints what is in force.

- [reprise.yaml](reprise.yaml) is a commented file with all defaults; [examples](examples) has whole setups.
- [schema.json](schema.json) is a JSON Schema (draft-07) for editors.
- This page is printed by `reprise config --reference`; the key table in `key_table.cpp` makes both.

## How values are written

| kind | examples | rules |
|---|---|---|
| duration | `250ms` `1m30s` `1.5s` | units us, ms, s, m, h, each at most once, largest first; only 0 needs none |
| size | `64KiB` `10MB` `512B` | B, KiB, MiB, GiB (powers of 1024), KB, MB, GB (powers of 1000); only 0 needs none |
| ratio | `20%` `0.2` | 0 to 1 |
| rate | `10/s` | per second; only 0 needs no unit |
| boolean | `true` `false` | no other word; a file that a YAML 1.1 tool has rewritten is read as well: `false` is `off` where `off` is a word, a key `true` under `retry` is `on` |
| whole number | `4` | decimal digits, no leading zero |
| address and port | `127.0.0.1:3128` `"[::1]:3128"` | numeric addresses only; port 0 binds a free one |

Unknown keys, duplicate keys, anchors, aliases, tags, tabs, a file over 1 MiB and nesting over 32 levels are errors.

**Replaced text.** In values, never in keys: `${env:NAME}` is a variable of the environment, `${env:NAME:-default}`
has a default, `${file:/path}` is the content of a file of up to 64 KiB without its last line end. `$${` is a literal
`${`. Inside `{..}` and `[..]` such a value needs quotes. Messages never print what was put in;
`config --effective` does, but for the password of `parent`.

**Without a file.** Ten settings are flags of `run`, `exec`, `check` and `config --effective`, and variables of the
environment. The file wins over variables, flags win over the file: also over what a route, a policy or a preset says,
but for `--idempotency-header`, since a route's own `idempotent` says what its upstream can bear. An empty variable
counts as none. A wrong flag ends the program with 2, a wrong variable with 78. A reload keeps flags and variables.
`REPRISE_RETRY_DEADLINE` is `REPRISE_DEADLINE`.

<!-- shortcuts -->

**Presets.** `presets: [gcs]` appends the routes of a shipped file, so a route of your own always goes first.
`reprise config --preset gcs` prints the file, whose keys are the ones on this page; its policies are there by name for
your own routes, listed or not. `{name: gcs, hosts: [..]}` moves it to other hosts; any other key of an item wins over
what the preset says.

| preset | for | is sent again | is not | whose numbers |
|---|---|---|---|---|
| [gcs](presets/gcs.yaml) | Google Cloud Storage, JSON and XML API | what the service calls idempotent, operation by operation, or made so by a precondition | any other write once bytes of it may have arrived | Google's retry strategy: 1 s to 64 s, 10 minutes |
| [gcs-metadata](presets/gcs-metadata.yaml) | the same, policy `gcs-metadata` | the same | the same | Google's Python library: 1, 2, 60, 120 s |
| [gsutil](presets/gsutil.yaml) | the same, policies `gsutil`, `gcloud` | the same | the same | Google's command-line tools: 23 retries, 60 s at most |
| [memorystore](presets/memorystore.yaml) | the administration API of Google Memorystore | by method | POST and PATCH once bytes of them may have arrived | Google's Memorystore documents: 1 s to 32 s |
| [aws](presets/aws.yaml) | AWS, with throttling that hides behind a 400; policies `aws`, `aws-2026`, `aws-2026-dynamodb` | by method; reads by POST that the head names: of DynamoDB, SQS, Secrets Manager, Systems Manager, KMS, Kinesis, STS | any other POST once bytes of it may have arrived; anything after its signature has run out | the AWS SDKs, standard mode: 3 attempts, 20 s at most |
| [git](presets/git.yaml) | git over smart HTTP | fetch and clone | a push; a pack that broke | our own: 0.5 s to 15 s, 2 minutes |
| [llm](presets/llm.yaml) | language-model APIs | calls that were answered 429, 503 or 529, also as the first event of a stream | 500, a timeout, a stream that has begun | our own: 0.5 s to 30 s, 5 minutes; the pause they ask for first |
| [oci](presets/oci.yaml) | registries of container images | by method; anything that was answered 429 | an upload (POST, PATCH, PUT with `digest`) once bytes of it may have arrived | our own: 0.5 s to 8 s, 90 s |
| [consul](presets/consul.yaml) | HashiCorp Consul | by method | `?cas=`, events, sessions, transactions; the statuses of an agent's health checks | our own: 0.25 s to 4 s, 30 s |
| [vault](presets/vault.yaml) | HashiCorp Vault, OpenBao | reads, also after a 412 | every write, credentials that a read makes, the statuses of `sys/health` | Vault's Go client, waits up to 4 s, 45 s |
| [health](presets/health.yaml) | health checks at any host | a failure without a response | any status: it is the answer | our own: 3 attempts in 2 s |

**Which key wins.** Built-in defaults, then `defaults`, then the route's `policy`, then the route's own keys, merged
key by key: a route may override `retry.backoff.jitter` alone. Lists and `idempotent` are replaced as a whole.
For a preset: `defaults`, the preset's policy, the item's `policy`, the preset's route, the item's own keys.
`budget: off` of one layer is switched on again by any key of `budget` in a stronger one.

**Idempotency.** `always`, `never`, `by_method` (the methods that the IANA registry calls idempotent: GET, HEAD,
OPTIONS, TRACE, PUT, DELETE, and those of WebDAV and others, such as PROPFIND, REPORT, SEARCH, QUERY, MKCOL, COPY, MOVE; not if the request asks for another
protocol by `Upgrade`), or `{any: [...]}` and
`{all: [...]}` of conditions:

| condition | holds when |
|---|---|
| `{header: NAME}` `{header: NAME=value}` | the field is there with a value, or with that value |
| `{query: NAME}` `{query: NAME=value}` | the parameter is there with a value, or with that value, percent-encoded as sent |
| `{json: KEY}` | the JSON body has that top-level key, not null and not empty; judged on a body of at most `replay.memory` |
| `{method: NAME}` | the method is that one; `{method: idempotent}`: it is one of those that `by_method` means |

**Held answers.** With `hold`, the client sees nothing of an answer until its body is whole, or `bytes` of it are
there, or the first event of an event stream (`text/event-stream`), or until `time` is over. If the body breaks before
that, the attempt has failed as `truncated`, which `retry.on` may list (it does not by default); where it is not tried
again, the client gets what came, cut. `body` names what makes an answer worth another attempt although its status does
not; a list holds if one of its items does, an item if all of its keys do:

| predicate | holds when |
|---|---|
| `{json: error.type}` | the JSON object has a value at that dotted path, not null and not empty |
| `{json: error.type, equals: overloaded_error}` | the string, number or boolean there has that text |
| `{event: error}` | the first event of the event stream has that name; `message` is one without a name |
| `{event: error, json: error.type, equals: overloaded_error}` | both; in an event stream `json` looks into the data of the first event |
| `{xml: Code, matches: "*Throttling*"}` | the first element of that name, at any depth, has a text like the pattern; `Error.Code` is a `Code` directly in an `Error` |
| `{header: x-amzn-errortype, matches: "Throttling*"}` | the head has that field with such a value; no body is needed or held |
| `{status: 400, json: __type, matches: ["*Throttling*", SlowDown]}` | the status is that one (or in `400-403`, `4xx`) and the value is like one of the patterns |
| `{event: error, json: code, equals: slow_down, refused: true}` | the same as without `refused`; such a response says that nothing was done, so that a request of any method is sent again, as after a status in `retry.refused` |

Without `status`, an answer of any status that `retry.on` does not list is looked at; where `bytes` is 0, only what a
predicate for that status could match is held at all. `matches` goes wherever `equals` does: one pattern or up to 32, in
which `*` stands for any characters, case-sensitive, for the whole text. With neither, the value is there and not empty.

JSON is looked for in a whole body of `application/json`, `application/x-amz-json-*`, any `+json` type or none, XML in one
of `application/xml`, `text/xml`, any `+xml` type or none; neither in a content-coded one. In XML, entities are never
expanded, name prefixes do not count, and a text with a document type has no elements.
Whether the request may be sent again is judged as for every other retry.

`always` on a route that matches POST loads with a warning: a request that took effect before its answer was lost is
then sent again.

**A parent proxy.** Plain requests go to it in absolute-form, with the connections of all hosts in one pool; tunnels
and TLS go through its CONNECT, and each host keeps its own. It resolves the names, so `security.deny` judges only
upstreams that are written as addresses, in whatever spelling, and the address of the parent itself, which is not dialled
if it is denied. What `except` lists is dialled from here, as if there were no parent. Budgets, circuits and pauses stay those of the upstream. With a gateway's `host: client`, a parent
replaces Host by the authority that it is asked for (RFC 9112 3.2.2).

**Refused as a whole.** `retry.max_attempts` and `retry.deadline` both unlimited; a maximum wait below the initial one;
a deadline that no first wait fits into; a listener that other machines reach without `allow_remote: true`; two
listeners on one address and port; a `json` condition where `replay.memory` is 0, or in a route whose methods,
`Content-Type` or `Content-Encoding` leave no JSON body; two presets with the same routes; a
`trace.otlp` that is one of the listeners.
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
