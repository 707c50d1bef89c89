# The Debian packages that reprise needs, for each release of Debian or Ubuntu, and a function that installs the missing ones. Other scripts
# source this file.
#
#   source deploy/packages.sh
#   install_missing "${build_packages[@]}"

# ID and VERSION_ID of /etc/os-release, such as debian-12. Empty if there is no such file.
release_here=$(. "${OS_RELEASE:-/etc/os-release}" 2>/dev/null && echo "$ID-${VERSION_ID:-unstable}") || release_here=
case "$release_here" in
  debian-12) boost=1.81 llvm=14 ;;
  debian-13) boost=1.83 llvm=19 ;;
  ubuntu-24.04) boost=1.83 llvm=18 ;;
  *)
    boost=1.83 llvm=19
    echo "packages: ${release_here:-this system} is not known here (debian-12, debian-13, ubuntu-24.04 are); trying the names of debian-13" >&2
    ;;
esac

build_packages=(
  g++ cmake ninja-build ccache mold
  "libboost$boost-dev" libyaml-cpp-dev prometheus-cpp-dev libssl-dev libcli11-dev libfmt-dev libc-ares-dev libnghttp2-dev
  ca-certificates curl
)
# iproute2, nftables, iptables: for the network namespaces in which tests cause faults and redirect connections.
# python3-hpack, nghttp2, nginx: HTTP/2 upstreams and clients. python3-grpcio: a gRPC client and server.
# shellcheck disable=SC2034
test_packages=(
  libgtest-dev clang clang-format clang-tidy "libclang-rt-$llvm-dev" "llvm-$llvm" python3 python3-yaml iproute2 nftables iptables openssl wget
  python3-hpack python3-grpcio nghttp2-client nghttp2-server nginx-light
)
# For the tests of the Debian package, the image and the hardening.
# shellcheck disable=SC2034
package_packages=(devscripts dpkg-dev file lintian mmdebstrap patchelf systemd-container buildah docker-compose)
# To run programs of another architecture.
# shellcheck disable=SC2034
foreign_packages=(qemu-user-static)
# For the instruction counts and the micro-benchmarks.
# shellcheck disable=SC2034
measure_packages=(valgrind libbenchmark-dev)
# For the alert rules and the dashboard.
# shellcheck disable=SC2034
rules_packages=(prometheus)
# Shells whose completions are tested, besides bash.
# shellcheck disable=SC2034
shell_packages=(fish zsh)
# For the tests of the status page.
# shellcheck disable=SC2034
browser_packages=(chromium fonts-dejavu-core)
# PACKAGE: a command that succeeds if the package or a substitute is installed. Only for the tests of real clients.
# shellcheck disable=SC2034
client_packages=(
  "aria2: command -v aria2c" "git: command -v git" "python3-pip: /usr/bin/python3 -m pip --version"
  "python3-requests: /usr/bin/python3 -c 'import requests'" "python3-httpx: /usr/bin/python3 -c 'import httpx'"
  "python3-h2: /usr/bin/python3 -c 'import h2'"
  "python3-aiohttp: /usr/bin/python3 -c 'import aiohttp'" "python3-websockets: /usr/bin/python3 -c 'import websockets'"
  "libwww-perl: perl -MLWP -e 1" "liblwp-protocol-https-perl: perl -MLWP::Protocol::https -e 1" "ruby: command -v ruby"
  "php-cli: command -v php" "proxychains4: command -v proxychains4" "nodejs: command -v node" "npm: command -v npm"
  "node-undici: test -e /usr/share/nodejs/undici" "node-ws: test -e /usr/share/nodejs/ws" "golang-go: command -v go"
  "default-jdk-headless: command -v javac" "maven: command -v mvn"
)

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "this step needs root, and sudo is not installed: $*" >&2
    return 1
  fi
}

is_installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# Installs those of the given packages that are missing. Does not use the network if none is missing.
install_missing() {
  local package missing=()
  if ! command -v apt-get >/dev/null; then
    echo "apt-get is not installed: install the software of these Debian packages by hand: $*" >&2
    return 0
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [ "${#missing[@]}" -eq 0 ]; then
    echo "packages: all ${#} are installed"
    return 0
  fi
  echo "packages: installing ${missing[*]}"
  as_root apt-get -q -o=Dpkg::Use-Pty=0 update | tail -n 1
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o=Dpkg::Use-Pty=0 install --no-install-recommends \
    "${missing[@]}" | grep -E '^(Need to get|Setting up|E:|W:)'
  for package in "${missing[@]}"; do
    if ! is_installed "$package"; then
      echo "packages: $package could not be installed" >&2
      return 1
    fi
  done
}

# Takes over a build folder that root has created, because other users could not build in it.
own_build_folder() {
  mkdir -p build 2>/dev/null
  if [ ! -w build ] || [ -n "$(find build -maxdepth 2 ! -user "$(id -un)" -print -quit)" ]; then
    as_root chown -R "$(id -u):$(id -g)" build
  fi
}
