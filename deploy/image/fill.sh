#!/bin/sh
# Copies the files that an image needs to run the installed package to FOLDER, and nothing else:
#
#   fill.sh FOLDER
#
# These are: the program, its configuration, its libraries and loader, the trusted certificates, passwd and group, nsswitch.conf, the
# licences of all that, and two files that scanners of images read: os-release and dpkg's status of the packages. No module for
# nsswitch.conf is copied: the C library itself has `files` and `dns`.
set -eu
image=$1
program=/usr/bin/reprise

# copy PATH: copies the file, following links, to the same path of the image, where /lib is /usr/lib.
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

# Paths of the libraries and of the loader, whose line has no arrow.
libraries=$(ldd "$program" | sed -nE 's/^\t(.* => )?(\/[^ ]+) \(0x[0-9a-f]+\)$/\2/p')
[ -n "$libraries" ] || { echo "fill.sh: ldd shows no library of $program: check that it is installed, and for this architecture" >&2; exit 1; }
if ldd "$program" | grep 'not found' >&2; then
  echo "fill.sh: libraries of $program are missing: install them first" >&2
  exit 1
fi

copy "$program"
copy /etc/reprise/reprise.yaml
copy /usr/share/doc/reprise/compiled-in
for library in $libraries; do copy "$library"; done
for folder in lib lib64; do
  [ ! -d "$image/usr/$folder" ] || ln -s "usr/$folder" "$image/$folder"
done

# The certificates are where distributions keep them, with a link from where OpenSSL looks. So a bundle that is mounted there is used.
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
# The default of limits.replay_folder. With a read-only root, a volume is mounted there.
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
