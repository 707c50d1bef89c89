#!/usr/bin/env bash
# Makes a tarball that runs from any folder: the program, its libraries, its documents and its systemd units.
#
#   bash deploy/release/tarball.sh BUILD_FOLDER INTO_FOLDER
#
# The C library is not included. The host's must be at least as new as that of the build system. Needs patchelf.
set -euo pipefail
build=$(realpath "$1") into=$(realpath "$2")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(sed -nE 's/^project\(reprise VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
case "$(readelf -h "$build/reprise" | sed -nE 's/^ *Machine: *//p')" in
  *X86-64*) architecture=amd64 triplet=x86_64-linux-gnu ;;
  AArch64) architecture=arm64 triplet=aarch64-linux-gnu ;;
  *) echo "tarball.sh: unknown architecture of $build/reprise: only amd64 and arm64 are supported" >&2; exit 1 ;;
esac
name=reprise-$version-linux-$architecture
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
place=$work/$name

umask 022
cmake --install "$build" --prefix "$place" >/dev/null
mkdir -p "$place/etc" "$place/lib/reprise" "$place/share/reprise/systemd" "$place/share/doc/reprise/licences"
cp deploy/debian/reprise.yaml "$place/etc/"
cp deploy/systemd/reprise.service deploy/systemd/reprise.socket deploy/systemd/reprise-redirect.service "$place/share/reprise/systemd/"

# add_libraries FILE: copies the libraries that a file needs, and those that these need, from the folders of that architecture.
add_libraries() {
  local needed found folder package
  while read -r needed; do
    case "$needed" in
      libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux*) continue ;;
    esac
    [ ! -e "$place/lib/reprise/$needed" ] || continue
    found=''
    for folder in "/usr/lib/$triplet" "/lib/$triplet"; do
      [ -n "$found" ] || [ ! -e "$folder/$needed" ] || found=$folder/$needed
    done
    [ -n "$found" ] || { echo "tarball.sh: $needed is not in /usr/lib/$triplet" >&2; exit 1; }
    cp -L "$found" "$place/lib/reprise/$needed"
    chmod 644 "$place/lib/reprise/$needed"
    package=$(dpkg-query -S "$found" 2>/dev/null || dpkg-query -S "${found#/usr}" 2>/dev/null || dpkg-query -S "$(realpath "$found")")
    package=${package%%[:,]*}
    cp -L "/usr/share/doc/$package/copyright" "$place/share/doc/reprise/licences/$package"
    add_libraries "$found"
  done < <(readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p')
}
add_libraries "$place/bin/reprise"
patchelf --set-rpath '$ORIGIN/../lib/reprise' "$place/bin/reprise"
for library in "$place"/lib/reprise/*; do patchelf --set-rpath '$ORIGIN' "$library"; done

# Reproducible: sorted, with fixed times and owners.
tar -C "$work" --sort=name --mtime="@${SOURCE_DATE_EPOCH:-0}" --owner=0 --group=0 --numeric-owner -cf - "$name" | xz -6 >"$into/$name.tar.xz"
echo "$into/$name.tar.xz"
