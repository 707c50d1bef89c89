#!/usr/bin/env bash
# Installs, builds and tests everything. The last line is the sum: `N passed, N failed`; what failed is told once more
# before it, so that the end of a log is enough.
#
#   bash tests/run.sh               every group
#   bash tests/run.sh fast          the groups for the loop: format floors release e2e
#   bash tests/run.sh tidy papers   only those groups
#   bash tests/run.sh mutants       a long one, which no other call includes
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source deploy/packages.sh

all_groups=(format floors release e2e asan simulation tsan fuzz coverage heavy tidy papers)
named_groups=(mutants)   # long: only when asked for
jobs=$(nproc)
# Most unit tests wait for sockets more than they compute: half as many again as there are cores keep the cores busy. A sanitizer's
# test program keeps several threads busy itself.
waiting_jobs=$(((3 * jobs + 1) / 2))
passed=0
failed=0
broken=()   # the groups with a failure
times=()
wrapper=()   # what unit tests and e2e run under
log=$(mktemp)
failures=$(mktemp -d)   # a file for each failed test, with what it said
trap 'rm -rf "$log" "$failures"' EXIT

# note PASSED FAILED: adds to the sum.
note() {
  passed=$((passed + $1))
  failed=$((failed + $2))
}

# failed_with NAME: a failed test; what it said is read from standard input.
failed_with() {
  { echo "FAILED: $1"; cat; } >"$failures/$(find "$failures" -type f | wc -l)"
}

# keep_failures GROUP BEGIN END: each part of $log from a line that matches BEGIN to one that matches END is a failed test.
keep_failures() {
  awk -v group="$1" -v begin="$2" -v end="$3" -v folder="$failures" -v number="$(find "$failures" -type f | wc -l)" '
    $0 ~ begin { if (file) close(file); file = folder "/" number++; print "FAILED: " group ": " $0 > file; next }
    $0 ~ end { if (file) close(file); file = ""; next }
    file { print > file }' "$log"
}

# The last lines of what each failed test said, as many as make some fifty lines in all.
tell_failures() {
  local files=("$failures"/*) each number=0
  [ -e "${files[0]}" ] || return 0
  each=$((48 / ${#files[@]}))
  [ "$each" -ge 5 ] || each=5
  echo
  for file in "${files[@]}"; do
    number=$((number + 1))
    [ "$number" -le 9 ] || { echo "and $((${#files[@]} - 9)) more"; break; }
    head -n 1 "$file"
    tail -n +2 "$file" | grep -vE '^ *$|^\[( RUN|  +OK|-+|=+|  PASSED) *\]|^Note: Google Test filter|^Running main' | tail -n $((each - 1)) |
      cut -c 1-400 | sed 's/^/  /'
  done
}

# check NAME COMMAND...: one test that is a command.
check() {
  local name=$1 status
  shift
  "$@" 2>&1 | tee "$log.check"
  status=${PIPESTATUS[0]}
  if [ "$status" -eq 0 ]; then
    echo "ok: $name"
    note 1 0
  else
    echo "FAILED: $name"
    failed_with "$name" <"$log.check"
    note 0 1
  fi
  rm -f "$log.check"
}

# counted NAME COMMAND...: a command whose last line says `N passed, N failed`.
counted() {
  local name=$1 status line
  shift
  "$@" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  line=$(tail -n 1 "$log")
  if [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    note "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    keep_failures "$name" '^FAILED' '^ok |^[0-9]+ passed, '
    [ "$status" -eq 0 ] || [ "${BASH_REMATCH[2]}" -gt 0 ] || {
      failed_with "$name ended with $status" < <(tail -n 20 "$log")
      note 0 1
    }
  else
    failed_with "$name ended with $status and without a count" < <(tail -n 20 "$log")
    note 0 1
  fi
}

# build PRESET [TARGET...]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" -DREPRISE_TESTS=ON >"$log" || { cat "$log"; return 1; }
  cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"}
}

# run_ctest PRESET [ARGUMENT...]: the unit tests of a build, each counted.
run_ctest() {
  local preset=$1 total bad at_once=$waiting_jobs
  [ "$preset" = release ] || at_once=$jobs
  shift
  "${wrapper[@]}" ctest --test-dir "build/$preset" --output-on-failure --no-tests=error --timeout 900 -j "$at_once" "$@" 2>&1 |
    tee "$log" | grep --line-buffered -vE '^ +Start +[0-9]+:'
  bad=$(sed -nE 's/.* ([0-9]+) tests failed out of [0-9]+.*/\1/p' "$log")
  total=$(sed -nE 's/.* [0-9]+ tests failed out of ([0-9]+).*/\1/p' "$log")
  if [ -n "$total" ]; then
    note $((total - bad)) "$bad"
    keep_failures "ctest of $preset" '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .*[*][*][*][^S]' \
      '^ *[0-9]+/[0-9]+ Test +#|^ *Start +[0-9]+:|^[0-9]+% tests passed'
  else
    failed_with "ctest of $preset ran nothing" < <(tail -n 20 "$log")
    note 0 1
  fi
}

# build_and_ctest PRESET: the whole of one preset, but for the end-to-end cases.
build_and_ctest() {
  local before=$failed
  check "build $1" build "$1"
  [ "$failed" -eq "$before" ] && run_ctest "$1"
}

# End-to-end cases need the program; where the build failed, that is the failure.
run_e2e() {
  local preset=$1
  shift
  if [ -x "build/$preset/reprise" ]; then
    counted "e2e of $preset" "${wrapper[@]}" python3 tests/e2e/run.py --bin "build/$preset/reprise" "$@"
  else
    failed_with "there is no build/$preset/reprise to run" </dev/null
    note 0 1
  fi
}

sources() {
  find config proxy tests cmake -type f \( -name '*.cpp' -o -name '*.hpp' \) | sort
}

# Says which files are not formatted; `clang-format -i` mends them.
unformatted() {
  sources | xargs clang-format --dry-run -Werror 2>&1 | sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: error:.*/not formatted: \1/p' | sort -u | tee "$log"
  [ ! -s "$log" ]
}

group_format() { check "clang-format" unformatted; }

group_floors() {
  check "floors notice what they must" python3 tests/floors.py --self-test
  check "floors" python3 tests/floors.py
  check "mutants are of this code" python3 tests/mutate.py --check
  check "rows notice what they must" python3 tests/rows.py --self-test
  check "every row has its tests" python3 tests/rows.py
}

group_release() { build_and_ctest release; }

group_e2e() {
  [ -x build/release/reprise ] || check "build release" build release
  run_e2e release --fault-figures build/figures/faults.json
}

group_asan() {
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  build_and_ctest asan
  run_e2e asan --load 1500
}

# The parts that own threads: the net and observe tests, and the program with four io threads.
group_tsan() {
  local targets=(reprise) name before=$failed
  for name in net observe; do
    compgen -G "tests/$name/*_test.cpp" >/dev/null && targets+=("${name}_test")
  done
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  check "build tsan" build tsan "${targets[@]}"
  [ "$failed" -eq "$before" ] || return
  # The sanitizer of clang 14 cannot place its shadow where the kernel shuffles addresses more than this.
  [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] || wrapper=(setarch -R)
  run_ctest tsan -R '^(net|observe)\.'
  run_e2e tsan --threads 4 --load 1000 --only 'test_(retries|replay|load|shutdown|tunnels)\.'
  wrapper=()
}

# stories FIGURES ARGUMENT...: stories of the whole proxy, under the sanitizers of the build that group asan makes.
stories() {
  local figures=$1
  shift
  mkdir -p build/figures
  build/asan/tests/net_stories --threads "$jobs" ${figures:+--figures "build/figures/$figures"} "$@"
}

# Every short story of the policy and a million random ones; and the canary: planted flaws that must be found.
policy_stories() {
  local stories=build/release/tests/simulation/policy/policy_stories before=$failed
  check "build policy_stories" build release policy_stories
  [ "$failed" -eq "$before" ] || return
  mkdir -p build/figures
  check "policy stories" "$stories" --all --random 1000000 --figures build/figures/policy_stories.json
  check "canaries of policy stories are found" "$stories" --canary
}

# Two hundred thousand stories from fixed seeds, and five defects of the stories themselves that must be found.
group_simulation() {
  local canary
  policy_stories
  # One that is there may be of older code.
  check "build net_stories" build asan net_stories
  check "net stories" stories net_stories.json --stories 200000
  for canary in repeated-effect wrong-byte lost-end used-before one-connection old-name; do
    check "canary $canary is found" stories "" --stories 1000 --canary "$canary"
  done
  # It needs a request on a connection that died in silence, and time for it before the deadline: one story in a thousand.
  check "canary deaf-kernel is found" stories "" --stories 10000 --canary deaf-kernel
  # It needs a download that broke and was asked for again: one story in some hundred.
  check "canary unnamed-change is found" stories "" --stories 10000 --canary unnamed-change
}

group_fuzz() {
  local before=$failed
  check "build fuzz" build fuzz fuzz_targets
  [ "$failed" -eq "$before" ] && counted "fuzz" python3 tests/fuzz/run.py --jobs "$jobs"
}

# What takes minutes by its nature: the shipped program under load and faults, with a ledger.
group_heavy() {
  local before=$failed
  check "build the soak" build release reprise reprise_soak
  [ "$failed" -eq "$before" ] || return
  check "executed-but-lost POSTs" bash tests/soak.sh --lost-posts 10000
  check "soak" bash tests/soak.sh 2
}

group_coverage() {
  local before=$failed
  check "build coverage" build coverage policy_test http_test config_test net_test net_stories policy_stories
  [ "$failed" -eq "$before" ] && counted "coverage" python3 tests/coverage.py
}

group_mutants() { counted "mutants" python3 tests/mutate.py --jobs "$jobs"; }

# proxy/net is left out: its Boost headers cost clang-tidy minutes a file.
group_tidy() {
  [ -f build/release/compile_commands.json ] || cmake --preset release -DREPRISE_TESTS=ON >/dev/null
  check "clang-tidy" bash -c 'xargs -P "$0" -n 2 clang-tidy --quiet --warnings-as-errors="*" -p build/release 2>/dev/null' "$jobs" \
    < <(find proxy/policy proxy/http proxy/observe config -name '*.cpp' | sort)
}

group_papers() {
  local before=$failed
  [ -x build/release/reprise ] || check "build release" build release
  counted "papers" python3 tests/papers.py --bin build/release/reprise
  check "the table of figures" python3 tests/figures.py --papers
  [ "$failed" -eq "$before" ] && check "quickstart from another folder" bash -c 'script=$PWD/deploy/quickstart.sh; cd / && bash "$script"'
}

case "${1:-}" in
  "") groups=("${all_groups[@]}") ;;
  fast) groups=(format floors release e2e) ;;
  *) groups=("$@") ;;
esac
for group in "${groups[@]}"; do
  if ! declare -F "group_$group" >/dev/null; then
    echo "no group '$group'; there are: fast ${all_groups[*]} ${named_groups[*]}" >&2
    exit 2
  fi
done

install_missing "${build_packages[@]}" "${test_packages[@]}" || exit 1
own_build_folder || exit 1
begin=$SECONDS
[ $# -gt 0 ] || rm -rf build/figures   # a full run tells of itself alone
for group in "${groups[@]}"; do
  echo
  echo "=== $group"
  start=$SECONDS
  before=$failed
  "group_$group"
  [ "$failed" -eq "$before" ] || broken+=("$group")
  took=$(printf '%d:%02d' $(((SECONDS - start) / 60)) $(((SECONDS - start) % 60)))
  times+=("$(printf '%-10s %6s min' "$group" "$took")")
  echo "=== $group: $took min"
done

# What the groups that were run have counted; a full run has all of it.
if compgen -G "build/figures/*.json" >/dev/null; then
  echo
  check "enough was tried, and nothing was lost" python3 tests/figures.py --check "${groups[@]}"
fi

echo
printf '%s\n' "${times[@]}"
printf 'total      %3d:%02d min\n' $(((SECONDS - begin) / 60)) $(((SECONDS - begin) % 60))
tell_failures
[ "${#broken[@]}" -eq 0 ] || echo "failing: ${broken[*]}"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
