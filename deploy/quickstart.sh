#!/usr/bin/env bash
# Shows in a minute or two what reprise does: builds it, runs it beside an upstream that fails, and sends requests to both with curl. If
# REPRISE_BIN names an existing program, the script does not build one.
set -euo pipefail
if [ -n "${REPRISE_BIN:-}" ]; then
  [[ -f $REPRISE_BIN && -x $REPRISE_BIN ]] || { echo "REPRISE_BIN: '$REPRISE_BIN' is not a program; unset it to build one" >&2; exit 1; }
  REPRISE_BIN=$(realpath "$REPRISE_BIN")
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source deploy/packages.sh

if [ -t 1 ]; then bold=$'\e[1m' dim=$'\e[2m' green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'; else bold='' dim='' green='' red='' plain=''; fi
folder=$(mktemp -d)
demo='' proxy=''

clean_up() {
  local process
  for process in $proxy $demo; do kill "$process" 2>/dev/null || true; done
  for process in $proxy $demo; do wait "$process" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap clean_up EXIT

step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
explain() { printf '%s%s%s\n' "$dim" "$*" "$plain"; }
fail() { printf '%s%s%s\n' "$red" "$*" "$plain" >&2; exit 1; }

# await FILE PATTERN: waits until a line of the file matches.
await() {
  local tries
  for tries in {1..1200}; do
    if [ -e "$1" ] && grep -qE "$2" "$1"; then return 0; fi
    sleep 0.05
  done
  cat "$1" >&2
  fail "'$2' did not appear within a minute"
}

# show NAME: prefixes every line with the name of the program that printed it.
show() { sed -u "s/^/  ${dim}$1${plain} /"; }

# Removes the time and the level from the lines of reprise.
narrate() { sed -uE 's/^[0-9:]+ [a-z]+: //'; }

# ask PROXY METHOD PATH STATUS [CURL ARGUMENT...]: sends one request and checks the status of the response.
ask() {
  local through=$1 method=$2 url=$upstream$3 expected=$4 status colour=$green
  shift 4
  printf '\n%s$%s curl %s-X %s%s %s\n' "$bold" "$plain" "${through:+-x $through }" "$method" "${*:+ $(printf '%q ' "$@")}" "$url"
  status=$(env -u no_proxy -u NO_PROXY -u http_proxy -u all_proxy -u ALL_PROXY \
    curl -sS --max-time 30 ${through:+-x "$through"} -X "$method" -D "$folder/head" -o "$folder/body" -w '%{http_code}' "$@" "$url")
  sleep 0.2 # lets the two programs finish their lines; only for readability
  [ "$status" -lt 400 ] || colour=$red
  printf '  %sresponse %s%s  %s\n' "$colour" "$status" "$plain" "$(grep -iE '^Reprise-' "$folder/head" | tr -d '\r' | paste -sd ' ' -)"
  [ "$status" = "$expected" ] || fail "expected $expected, got $status"
}

step "1. Packages"
install_missing "${build_packages[@]}"

build_reprise() {
  local with_tests=OFF
  step "2. Build"
  explain "The first build compiles Boost.Asio and takes a few minutes; later ones take seconds."
  own_build_folder
  if is_installed libgtest-dev; then with_tests=ON; fi
  cmake --preset release -DREPRISE_TESTS=$with_tests >"$folder/configure" || { cat "$folder/configure"; return 1; }
  cmake --build build/release --target reprise -j "$(nproc)"
}

reprise=${REPRISE_BIN:-}
if [ -z "$reprise" ]; then
  build_reprise
  reprise=$PWD/build/release/reprise
fi
"$reprise" version

step "3. An upstream that fails"
explain "reprise demo responds to each new request with 503, then 503 again, then 200."
"$reprise" demo --bind 127.0.0.1:0 --script 503,503,200 > >(tee "$folder/demo" | sed -u 's/^upstream: //' | show "upstream|") 2>&1 &
demo=$!
await "$folder/demo" '^listening on '
upstream=http://$(sed -nE 's/^listening on ([0-9.:]+).*/\1/p' "$folder/demo")

step "4. Directly to the upstream: every request fails"
ask "" GET "/flaky?id=direct-1" 503
ask "" GET "/flaky?id=direct-2" 503

step "5. Start reprise"
cat >"$folder/reprise.yaml" <<'YAML'
version: 1
listeners:
  - {mode: forward, bind: 127.0.0.1:0}   # port 0: any free port
admin: {bind: 127.0.0.1:0}
defaults:
  retry: {max_attempts: 4, deadline: 20s, backoff: {initial: 400ms, maximum: 2s}}
routes:
  - name: keyed-writes                    # a POST is retried only if a rule says that it is safe
    match: {methods: [POST]}
    idempotent: {any: [{header: Idempotency-Key}]}
log: {level: debug, access: false, format: text}   # one line for each attempt, instead of one for each request
YAML
show "reprise.yaml|" <"$folder/reprise.yaml"
"$reprise" run -c "$folder/reprise.yaml" > >(tee "$folder/proxy" | narrate | show "reprise |") 2>&1 &
proxy=$!
await "$folder/proxy" 'ready'
address() { sed -nE "s/.*listening $1 ([0-9.:]+).*/\1/p" "$folder/proxy"; }
through=http://$(address forward)
admin=http://$(address admin)

step "6. The same requests through the proxy, each attempt as it happens"
ask "$through" GET "/flaky?id=one" 200
ask "$through" GET "/flaky?id=two" 200
explain "
A POST may have taken effect, so it is sent once and its 503 is returned unchanged:"
ask "$through" POST "/flaky?id=three" 503 --data amount=1
explain "
A POST with an Idempotency-Key is retried, because the route above says that it is safe to repeat:"
ask "$through" POST "/flaky?id=four" 200 --data amount=1 -H "Idempotency-Key: 7f3a"

step "7. The metrics"
curl -sS --noproxy '*' "$admin/metrics" >"$folder/metrics"
grep -E '^reprise_(requests|attempts|retries|retries_refused|recovered)_total' "$folder/metrics" | grep -v ' 0$' | show "metrics |"
grep -qE '^reprise_recovered_total.* [1-9]' "$folder/metrics" || fail "the metrics show no recovered request"

step "8. Your own application"
cat <<'TEXT'
  Start reprise with the defaults (proxy on 127.0.0.1:3128, metrics on 127.0.0.1:3129). The option -c FILE names a
  configuration; config/examples has examples:

      build/release/reprise run

  Then set the proxy variables of the application, in both spellings and with the full URL:

      export http_proxy=http://127.0.0.1:3128 HTTP_PROXY=http://127.0.0.1:3128
      export no_proxy=localhost,127.0.0.1,169.254.169.254,169.254.170.2,169.254.170.23,fd00:ec2::254,100.100.100.200,192.0.0.192,metadata.google.internal
      export NO_PROXY="$no_proxy"

  docs/clients.md lists what each client needs. https:// URLs may use the same proxy (https_proxy, HTTPS_PROXY). They are
  tunnelled: reprise retries the connection, but cannot read the requests inside. To have these requests retried, use a
  gateway:

      build/release/reprise run --gateway 3180=https://api.example.com
TEXT

step "Done. Stopping both programs and removing $folder."
