#!/bin/sh
# Lays out below FOLDER what an image needs to run the installed package, and nothing else:
#
#   fill.sh FOLDER
#
# The program, its configuration, the libraries and the loader that it names, the authorities of TLS, who runs it, how names are found,
# the licences of all that, and what scanners of images look for: os-release, and the status of the packages that these files come from. The C library finds names in files and DNS without a module of its own.
set -eu
image=$1
program=/usr/bin/reprise

# What PATH leads to, under PATH, in an image whose /lib is /usr/lib.
copy() {
  case "$1" in
    /lib*) path=/usr$1 ;;
    *) path=$1 ;;
  esac
  mkdir -p "$image${path%/*}"
  cp -L --preserve=mode,timestamps "$1" "$image$path"
}

owner() {
  dpkg-query -S "$1" 2>/dev/null || dpkg-query -S "/usr$1" 2>/dev/null || dpkg-query -S "${1#/usr}"
}

# Name, and where it is, of each library; the loader has no arrow.
libraries=$(ldd "$program" | sed -nE 's/^\t(.* => )?(\/[^ ]+) \(0x[0-9a-f]+\)$/\2/p')
[ -n "$libraries" ] || { echo "fill.sh: $program names no library: is it installed, and for this machine?" >&2; exit 1; }
if ldd "$program" | grep 'not found' >&2; then
  echo "fill.sh: $program has to find its libraries first" >&2
  exit 1
fi

copy "$program"
copy /etc/reprise/reprise.yaml
copy /usr/share/doc/reprise/compiled-in
for library in $libraries; do copy "$library"; done
for folder in lib lib64; do
  [ ! -d "$image/usr/$folder" ] || ln -s "usr/$folder" "$image/$folder"
done

# Where OpenSSL looks, and where distributions keep it: a bundle mounted there is used.
copy /etc/ssl/certs/ca-certificates.crt
mkdir -p "$image/usr/lib/ssl"
ln -s /etc/ssl/certs/ca-certificates.crt "$image/usr/lib/ssl/cert.pem"

cat >"$image/etc/passwd" <<'PASSWD'
root:x:0:0:root:/nonexistent:/usr/sbin/nologin
reprise:x:65532:65532:retrying HTTP proxy:/nonexistent:/usr/sbin/nologin
PASSWD
cat >"$image/etc/group" <<'GROUP'
root:x:0:
reprise:x:65532:
GROUP
echo 'hosts: files dns' >"$image/etc/nsswitch.conf"
# limits.replay_folder; with a read-only root, a volume is mounted there.
mkdir -m 1777 "$image/tmp"

copy /etc/os-release
mkdir -p "$image/var/lib/dpkg"
for file in "$program" /etc/ssl/certs/ca-certificates.crt $libraries; do
  [ "$file" = /etc/ssl/certs/ca-certificates.crt ] && package=ca-certificates || package=$(owner "$file" | sed 's/[:,].*//')
  copy "/usr/share/doc/$package/copyright"
  grep -qsx "Package: $package" "$image/var/lib/dpkg/status" || { dpkg-query -s "$package" && echo; } >>"$image/var/lib/dpkg/status"
  for licence in $(sed -nE 's/.*\/usr\/share\/common-licenses\/([A-Za-z0-9.-]*[A-Za-z0-9]).*/\1/p' "/usr/share/doc/$package/copyright"); do
    copy "/usr/share/common-licenses/$licence"
  done
done
