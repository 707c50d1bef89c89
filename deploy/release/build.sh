#!/usr/bin/env bash
# Builds the Debian package for one release, and the tarball, in a chroot of that release:
#
#   bash deploy/release/build.sh RELEASE ARCHITECTURE FOLDER
#
# RELEASE is debian-12, debian-13 or ubuntu-24.04; ARCHITECTURE is amd64 or arm64. Package, tarball and debug information are written to
# FOLDER. For another architecture than this machine's, the script cross-compiles in a chroot with the libraries of both. It builds the
# last commit, not the working tree. It needs root, mmdebstrap and a mirror of that release. With REPRISE_WERROR=ON, warnings are errors.
set -euo pipefail
release=$1 architecture=$2
mkdir -p "$3"
into=$(realpath "$3")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
here=$(dpkg --print-architecture)
case "$release" in
  debian-12) suite=bookworm ;;
  debian-13) suite=trixie ;;
  ubuntu-24.04) suite=noble ;;
  *) echo "build.sh: unknown release '$release': write debian-12, debian-13 or ubuntu-24.04" >&2; exit 2 ;;
esac
case "$architecture" in
  "$here" | arm64) ;;
  *) echo "build.sh: cannot build for '$architecture': write $here, or arm64, which is cross-compiled" >&2; exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
printf 'ID=%s\nVERSION_ID=%s\n' "${release%-*}" "${release#*-}" >"$work/os-release"
OS_RELEASE=$work/os-release
source deploy/packages.sh

packages=("${build_packages[@]}" dpkg-dev file patchelf xz-utils)
options=() configured=()
# Half of the build packages are in Ubuntu's component universe.
[ "${release%-*}" != ubuntu ] || options+=(--components=main,universe)
if [ "$architecture" != "$here" ]; then
  options+=(--architectures="$here,$architecture")
  packages=()
  for package in "${build_packages[@]}" dpkg-dev file patchelf xz-utils qemu-user-static; do
    case "$package" in
      g++) packages+=(g++-aarch64-linux-gnu "libstdc++6:$architecture") ;;
      libcli11-dev) packages+=("$package") ;;
      lib*-dev | prometheus-cpp-dev) packages+=("$package:$architecture") ;;
      *) packages+=("$package") ;;
    esac
  done
  configured=(-DCMAKE_TOOLCHAIN_FILE=/src/cmake/aarch64.cmake)
fi

echo "build.sh: a chroot of $release with ${#packages[@]} packages"
mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io '--aptopt=Acquire::Languages "none"' "${options[@]}" \
  --include="$(IFS=,; echo "${packages[*]}")" "$suite" "$work/root"
mkdir "$work/root/src"
git archive HEAD | tar -x -C "$work/root/src"
epoch=$(git log -1 --format=%ct)

echo "build.sh: compiling for $release $architecture"
unshare --mount --pid --fork --mount-proc="$work/root/proc" chroot "$work/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
  LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH="$epoch" CCACHE_DISABLE=1 REPRISE_WERROR="${REPRISE_WERROR:-OFF}" bash -euo pipefail -c '
    cd /src
    cmake --preset release -DREPRISE_TESTS=OFF -DREPRISE_WERROR="$REPRISE_WERROR" "$@" >configured || { cat configured; exit 1; }
    cmake --build build/release --target reprise
    mkdir made
    (cd build/release && cpack -B /src/made)
    bash deploy/release/tarball.sh build/release made' build "${configured[@]}"
# There is one tarball for each architecture. It is built on the oldest release, so it runs on all.
for file in "$work"/root/src/made/*.deb; do
  cp "$file" "$into/"
  xz -c "$work/root/src/build/release/reprise.debug" >"$into/$(basename "$file" .deb).debug.xz"
done
[ "$release" != debian-12 ] || cp "$work"/root/src/made/*.tar.xz "$into/"
ls -l "$into"
