#!/usr/bin/env bash
# Installs, builds and tests. The last line is the sum: `N passed, N failed, N skipped`; what failed and what was not played is told
# once more before it, so that the end of a log is enough.
#
#   bash tests/run.sh               the short form, at most a quarter of an hour on two cores with nothing built; with CI=true, all
#   bash tests/run.sh all           every group, of the program as it is shipped; at most 55 minutes
#   bash tests/run.sh fast          the groups for the loop: format floors check e2e
#   bash tests/run.sh tidy docs   only those groups
#   bash tests/run.sh mutants       a long one, which no other call includes
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
source deploy/packages.sh
source tests/ahead.sh

fast_groups=(format floors check e2e)
short_groups=(format floors e2e check short_stories short_fuzz docs)   # e2e first: the unit tests are built beside it
all_groups=(format floors release e2e browser interop package heavy asan simulation tsan fuzz coverage cost tidy docs)
named_groups=(check short_stories short_fuzz mutants)   # not in all: parts of longer groups, and what is long
# Whose tests run over sockets: the rooms above them, and the whole proxy.
socket_rooms=(io systemd cgroup control console reload tls intercept resolve trace upstream dial replay tunnel message worker admin server whole)
# The program, and those tests with those of observe; and what these are called.
socket_targets=(reprise "${socket_rooms[@]/%/_test}" observe_test)
socket_tests="^($(IFS="|"; echo "${socket_rooms[*]}")|observe)\\."
jobs=$(nproc)
counts=$PWD/build/asan/counts   # which lines were run under the sanitizers
broken=()   # the groups with a failure
times=()
wrapper=()   # what unit tests and e2e run under
run=$(mktemp -d)   # what this run leaves for its own later groups
said=$run   # what commands say, and the journal of what was played
to_come=()   # the groups behind the one that is played
tested=release   # the build whose program is tested; a developer's run asks for one that costs half the time
trap 'stop_what_is_ahead; rm -rf "$run"' EXIT

# tally ACTION [NAME STATUS LOG...]: counts what a command has said; not 0 if it has failed. A count that breaks fails the run.
tally() {
  local status=0
  python3 tests/tally.py --journal "$said/journal" "$@" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || touch "$run/uncounted"
  return "$status"
}

# minutes SECONDS
minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# check NAME COMMAND...: one test that is a command.
check() {
  local name=$1 status
  shift
  "$@" 2>&1 | tee "$said/check"
  status=${PIPESTATUS[0]}
  if tally check "$name" "$status" "$said/check"; then
    echo "ok: $name"
  else
    echo "FAILED: $name"
    return 1
  fi
}

# counted NAME COMMAND...: a command that counts for itself, and whose last line is its sum.
counted() {
  local name=$1
  shift
  "$@" 2>&1 | tee "$said/counted"
  tally counted "$name" "${PIPESTATUS[0]}" "$said/counted"
}

# skipped WHY TEST...: tests that are not played.
skipped() {
  local name
  for name in "${@:2}"; do echo "SKIPPED $name: $1"; done
  echo "0 passed, 0 failed, $(($# - 1)) skipped"
}

# build PRESET [TARGET...]: what this run has not built yet, after what was begun ahead. Two never build in one folder.
build() {
  is_built "$@" && return
  await "$1"
  is_built "$@" || build_now "$@"
}

build_now() {
  local preset=$1
  shift
  # Once in a run: where it is configured anew, ctest may be reading what its tests are.
  if [ ! -d "$run/built/$preset" ]; then
    cmake --preset "$preset" -DREPRISE_TESTS=ON >"$said/configure.$preset" || { cat "$said/configure.$preset"; return 1; }
    mkdir -p "$run/built/$preset"
  fi
  cmake --build "build/$preset" -j "$jobs" ${1:+--target "$@"} || return
  (cd "$run/built/$preset" && touch "${@:-all}")
}

is_built() {
  local built=$run/built/$1 target
  [ ! -e "$built/all" ] || return 0
  for target in "${@:2}"; do [ -e "$built/$target" ] || return 1; done
  [ $# -gt 1 ]
}

is_to_come() { [[ " ${to_come[*]} " == *" $1 "* ]]; }

# How many tests at once. Most wait for sockets more than they compute: twice as many as there are cores keep the cores busy.
tests_at_once=$((2 * jobs))

# run_unit_tests PRESET [PATTERN]: those of a build, or those whose names are like that.
run_unit_tests() {
  counted "unit tests of $1" "${wrapper[@]}" python3 tests/unit_tests.py "build/$1" --jobs "$tests_at_once" --rooms "${2:-}"
}

# End-to-end cases need the program; where the build failed, that is the failure.
run_e2e() {
  local preset=$1
  shift
  [ -x "build/$preset/reprise" ] || { check "there is a build/$preset/reprise" false; return; }
  counted "e2e of $preset" "${wrapper[@]}" python3 tests/e2e/run.py --bin "build/$preset/reprise" --jobs "$tests_at_once" "$@"
}

sources() {
  find config proxy tests cmake -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.c' \) | sort
}

# Says which files are not formatted; `clang-format -i` mends them.
unformatted() {
  sources | xargs clang-format --dry-run -Werror 2>&1 | sed -nE 's/^([^ :]+):[0-9]+:[0-9]+: error:.*/not formatted: \1/p' | sort -u | tee "$said/unformatted"
  [ ! -s "$said/unformatted" ]
}

group_format() { check "clang-format" unformatted; }

group_floors() {
  check "the counting notices what it must" python3 tests/tally.py --self-test
  check "each way in which a unit test ends is told" python3 tests/unit_tests.py --self-test
  check "what is played ahead is told in its turn" bash tests/ahead_test.sh
  check "floors notice what they must" python3 tests/floors.py --self-test
  check "floors" python3 tests/floors.py
  check "the lists of groups and rooms notice what they must" python3 tests/groups.py --self-test
  check "lists of groups and rooms are the same" python3 tests/groups.py
  check "copies notice what they must" python3 tests/copied.py --self-test
  check "the Dockerfile copies what it builds from" python3 tests/copied.py
  check "requirements notice what they must" python3 tests/requirements.py --self-test
  check "every requirement has its tests" python3 tests/requirements.py
  check "comments notice what they must" python3 tests/comments.py --self-test
  check "comments are filled" python3 tests/comments.py
  check "citations notice what they must" python3 tests/citations.py --self-test
  check "citations lead somewhere" python3 tests/citations.py
}

# A developer's build: every assertion, and nothing that is optimized at the link. Full runs are of what is shipped.
group_check() { check "build check" build check && run_unit_tests check; }

# program [PRESET]: without it a group has nothing to do.
program() {
  local preset=${1:-$tested}
  [ -x "build/$preset/reprise" ] || check "build $preset" build "$preset" reprise
}

# The tests of the pure rooms ask nothing of a machine: a full run plays them once, under the sanitizers.
group_release() {
  local targets=() only=''
  ! $is_full || targets=("${socket_targets[@]}") only=$socket_tests
  if check "build release" build release "${targets[@]}"; then
    ! $is_full || begin_what_computes
    run_unit_tests release "$only"
  fi
  check "hardening notices what is missing" python3 tests/hardening.py --self-test
  check "the program is hardened" python3 tests/hardening.py --bin build/release/reprise
}

# For the groups of a full run that mostly wait: the builds of those to come, the stories, and clang-tidy, which remembers what
# had no findings.
begin_what_computes() {
  do_ahead release build_now release reprise_soak policy_stories micro_bench
  do_ahead asan build_now asan
  play_ahead simulation
  do_ahead tsan build_now tsan "${socket_targets[@]}"
  do_ahead tidy python3 tests/tidy.py --jobs "$jobs"
}

group_e2e() {
  # One that is there may be of older code.
  if is_to_come check; then check "build the program" build check reprise; else program; fi || return
  ! is_to_come check || do_ahead check build_now check
  ! is_to_come short_fuzz || do_ahead asan build_now asan short_fuzz_targets
  run_e2e "$tested" --fault-figures build/figures/faults.json
}

# The status page in a browser, which only a full run brings. Where there is none, that is told.
group_browser() {
  program || return
  ! $is_full || install_missing "${browser_packages[@]}" || echo "without ${browser_packages[*]}"
  counted "browser" python3 tests/browser/run.py --bin "build/$tested/reprise"
}

# Real clients. One that cannot be installed is skipped by name.
group_interop() {
  local entry missing=()
  program || return
  for entry in "${client_packages[@]}"; do
    sh -c "${entry#*: }" >/dev/null 2>&1 || missing+=("${entry%%: *}")
  done
  [ "${#missing[@]}" -eq 0 ] || install_missing "${missing[@]}" || echo "without some of ${missing[*]}"
  counted "interop" python3 tests/interop/run.py --bin "build/$tested/reprise"
}

# What is shipped: the Debian package and the image, from the release build. What cannot be made or run here is skipped by name.
group_package() {
  program release || return
  install_missing "${package_packages[@]}" || echo "without some of ${package_packages[*]}"
  counted "package" python3 tests/package/run.py --bin build/release/reprise
}

# A story is played again by its seed, with what a report lacks.
quick_sanitizer=malloc_context_size=3:quarantine_size_mb=16

# The sanitizers of clang 14 cannot place their shadow where the kernel shuffles addresses more than this.
fixed_addresses() {
  [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -le 28 ] || wrapper=(setarch -R)
}

# One build for sanitizers, fuzzing, stories and coverage: the same sources cost minutes each time. All of it is built here.
group_asan() {
  export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
  fixed_addresses
  if check "build asan" build asan; then
    # %m: processes of one program add up in one of four files.
    LLVM_PROFILE_FILE="$counts/units-%4m.profraw" run_unit_tests asan
    touch "$run/counted-units"
  fi
  run_e2e asan --load 1500
  wrapper=()
}

# The parts that own threads: the tests of the rooms above the sockets and of observe, and the program with four io threads.
group_tsan() {
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  fixed_addresses
  check "build tsan" build tsan "${socket_targets[@]}" && run_unit_tests tsan "$socket_tests"
  run_e2e tsan --threads 4 --load 1000 --only 'test_(retries|replay|load|shutdown|tunnels)\.'
  wrapper=()
}

# What takes minutes by its nature: the shipped program under load and faults, with a ledger.
group_heavy() {
  check "build the soak" build release reprise reprise_soak || return
  check "executed-but-lost POSTs" bash tests/soak.sh --lost-posts 10000
  check "soak" bash tests/soak.sh 2
}

# canary_is_found STORIES CANARY: a defect of the stories themselves that a law must find within so many.
canary_is_found() {
  check "canary $2 is found" env ASAN_OPTIONS="$quick_sanitizer" "${wrapper[@]}" build/asan/tests/net_stories --threads "$jobs" --stories "$1" --canary "$2"
}

# stories COUNT: of the whole proxy, under the sanitizers of the build that group asan makes. A process for each core: threads
# would share the counters of lines, and wait for each other's cache lines.
stories() {
  local each=$((($1 + jobs - 1) / jobs)) players=() player status=0
  mkdir -p build/figures
  rm -f build/figures/net_stories.*.part
  for ((player = 0; player < jobs; player++)); do
    ASAN_OPTIONS=$quick_sanitizer "${wrapper[@]}" build/asan/tests/net_stories --threads 1 --seed $((player * each + 1)) --stories "$each" \
      --figures "build/figures/net_stories.$player.part" &
    players+=($!)
  done
  for player in "${players[@]}"; do wait "$player" || status=1; done
  [ "$status" -eq 0 ] && python3 tests/figures.py --add net_stories
}

# Every short story of the policy and a million random ones; and the canary: planted flaws that must be found.
policy_stories() {
  local stories=build/release/tests/simulation/policy/policy_stories
  check "build policy_stories" build release policy_stories || return
  mkdir -p build/figures
  check "policy stories" "$stories" --all --random 1000000 --figures build/figures/policy_stories.json
  check "canaries of policy stories are found" "$stories" --canary
}

# Two hundred thousand stories from fixed seeds, and defects of the stories themselves that must be found.
group_simulation() {
  local canary
  policy_stories
  # One that is there may be of older code.
  check "build net_stories" build asan net_stories
  fixed_addresses
  LLVM_PROFILE_FILE="$counts/stories-%m.profraw" check "net stories" stories 200000
  touch "$run/counted-stories"
  for canary in repeated-effect wrong-byte lost-end used-before one-connection old-name clear-text; do
    canary_is_found 1000 "$canary"
  done
  # It needs a request on a connection that died in silence, and time for it before the deadline: one story in a thousand.
  canary_is_found 10000 deaf-kernel
  # It needs a download that broke and was asked for again: one story in some hundred.
  canary_is_found 10000 unnamed-change
  wrapper=()
}

# The short stories: as many of the whole proxy as group coverage plays. Figures are of the long groups.
group_short_stories() {
  check "build the stories" build "$tested" net_stories policy_stories || return
  check "short policy stories" "build/$tested/tests/simulation/policy/policy_stories" --all
  check "short net stories" "build/$tested/tests/net_stories" --threads "$jobs" --stories 30000
}

group_fuzz() { check "build fuzz" build asan fuzz_targets && counted "fuzz" python3 tests/fuzz/run.py --jobs "$jobs"; }

# Every seed and twenty thousand more inputs for each target but those for which alone whole rooms would be built.
group_short_fuzz() {
  check "build short fuzz" build asan short_fuzz_targets && counted "short fuzz" python3 tests/fuzz/run.py --short --jobs "$jobs"
}

# What a request costs in instructions, and that the micro-benchmarks run. Not ahead: beside other work the loop turns more often.
group_cost() {
  install_missing "${measure_packages[@]}" || echo "without ${measure_packages[*]}"
  check "build what is measured" build release reprise micro_bench || return
  check "the gate of instructions notices what it must" python3 tests/bench/instructions.py --self-test
  check "instructions a request" python3 tests/bench/instructions.py
  check "micro-benchmarks" build/release/tests/bench/micro/micro_bench --benchmark_min_time=0.01
}

# What the groups asan and simulation of this run have played counts; without both, the tests and fewer stories are played here.
group_coverage() {
  local played=()
  [ ! -e "$run/counted-units" ] || [ ! -e "$run/counted-stories" ] || played=(--played)
  check "build what is counted" build asan policy_test http_test config_test explain_test simulate_test comparison_test top_test "${socket_rooms[@]/%/_test}" net_stories policy_stories || return
  fixed_addresses
  counted "coverage" "${wrapper[@]}" python3 tests/coverage.py "${played[@]}"
  wrapper=()
}

mutants_are_of_this_code() { check "mutants are of this code" python3 tests/mutate.py --check; }

group_mutants() { mutants_are_of_this_code && counted "mutants" python3 tests/mutate.py --jobs "$jobs"; }

group_tidy() {
  mutants_are_of_this_code   # planted when asked for, but never out of date
  check "configure asan" cmake --preset asan -DREPRISE_TESTS=ON || return
  check "clang-tidy notices what it must" python3 tests/tidy.py --self-test
  counted "clang-tidy" python3 tests/tidy.py --jobs "$jobs"
}

is_told_by_quickstart() {
  local told
  told=$(REPRISE_BIN=/none bash deploy/quickstart.sh 2>&1) && return 1
  grep -x "REPRISE_BIN: '/none' is no program.*" <<<"$told"
}

group_docs() {
  program || return
  counted "docs" python3 tests/docs.py --bin "build/$tested/reprise"
  check "the table of figures" python3 tests/figures.py --docs
  # Prometheus comes in a package that starts a server: only a full run brings it.
  ! $is_full || install_missing prometheus || true
  if command -v prometheus >/dev/null; then
    check "alert rules" python3 tests/alerts.py --bin "build/$tested/reprise"
    check "dashboard" python3 tests/dashboard.py --bin "build/$tested/reprise"
  else
    counted "docs" skipped "no prometheus, which a full run brings" "alert rules" "dashboard"
  fi
  # That it works, not what it measures: this machine is busy.
  check "the benchmark runs" python3 tests/bench/bench.py --bin "build/$tested/reprise" --peers dumbpipe --baseline dumbpipe \
    --scenarios lat,down64m_c4,up64m_c4 --secs 1 --rounds 1 --tries 1 --pin none
  # With a program that is there already, but in a full run, which has made the one that is shipped.
  local with=''
  [ "$tested" = release ] || with=$PWD/build/$tested/reprise
  check "quickstart tells of a program that is not there" is_told_by_quickstart
  check "quickstart from another folder" env REPRISE_BIN="$with" bash -c 'script=$PWD/deploy/quickstart.sh; cd / && bash "$script"'
}

is_full=false
case "${1:-}" in
  "")
    groups=("${short_groups[@]}")
    [ "${CI:-}" != true ] || is_full=true
    ;;
  all) is_full=true ;;
  fast) groups=("${fast_groups[@]}") ;;
  *) groups=("$@") ;;
esac
$is_full && groups=("${all_groups[@]}")
for group in "${groups[@]}"; do
  if ! declare -F "group_$group" >/dev/null; then
    echo "no group '$group'; there are: all fast ${all_groups[*]} ${named_groups[*]}" >&2
    exit 2
  fi
done

install_missing "${build_packages[@]}" "${test_packages[@]}" || exit 1
own_build_folder || exit 1
begin=$SECONDS
! $is_full || rm -rf build/figures   # a full run tells of itself alone
[[ " ${groups[*]} " != *" asan "* ]] || rm -rf "$counts"
to_come=("${groups[@]}")
! is_to_come check || tested=check
for group in "${groups[@]}"; do
  to_come=("${to_come[@]:1}")
  echo
  echo "=== $group"
  start=$SECONDS
  before=$(tally failures)
  play "$group"
  [ "$(tally failures)" -eq "$before" ] || broken+=("$group")
  took=$(minutes $((SECONDS - start)))
  times+=("$(printf '%-13s %6s min' "$group" "$took")")
  echo "=== $group: $took min"
done

# What the groups that were run have counted; a full run has all of it.
if compgen -G "build/figures/*.json" >/dev/null; then
  echo
  check "enough was tried, and nothing was lost" python3 tests/figures.py --check "${groups[@]}"
fi

echo
printf '%s\n' "${times[@]}"
printf '%-13s %6s min\n' total "$(minutes $((SECONDS - begin)))"
left=()
for group in "${all_groups[@]}"; do
  [[ " ${groups[*]} " == *" $group "* ]] || left+=("$group")
done
[ "${#left[@]}" -eq 0 ] || counted "this run" skipped "it was not asked for" "${left[@]/#/group }"
[ "${#broken[@]}" -eq 0 ] || echo "failing: ${broken[*]}"
[ ! -e "$run/uncounted" ] || { echo "not everything was counted: tests/tally.py broke"; exit 1; }
tally end
