#!/bin/sh
# Prints the bill of materials of an image as SPDX 2.3 JSON: each file, its Debian package, and the libraries that were compiled in.
#
#   sbom.sh FOLDER     FOLDER: filled by fill.sh. Run both on the same system, because dpkg there knows the packages
#
# The script fails if a file name would need an escape in JSON.
set -eu
image=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(dpkg-query -W -f '${source:Upstream-Version}' reprise)
. /etc/os-release

# id TEXT: prints the text as an SPDX identifier.
id() { printf '%s' "$1" | sed 's/+/-plus/g; s/[^A-Za-z0-9.-]/-/g'; }
# part TEXT: prints the text as a part of a package URL.
part() { printf '%s' "$1" | sed 's/+/%2B/g; s/:/%3A/g'; }

# package_of PATH: prints the package of a file; nothing for files that fill.sh wrote itself. dpkg may list a file of /usr/lib under /lib.
package_of() {
  case "$1" in
    /etc/ssl/certs/ca-certificates.crt) echo ca-certificates; return ;;
    /usr/share/doc/*/copyright) echo "$1" | cut -d/ -f5; return ;;   # its folder may be a link to another package's
  esac
  { dpkg-query -S "$1" || dpkg-query -S "${1#/usr}" || true; } 2>/dev/null | sed -n '1s/[:,].*//p'
}

# relation FROM KIND TO: adds a relationship.
relation() {
  printf ',\n    {"spdxElementId": "SPDXRef-%s", "relationshipType": "%s", "relatedSpdxElement": "SPDXRef-%s"}' "$1" "$2" "$3" >>"$work/relations"
}

# analyzed NAME: prints whether files of that package are in the image, and the SPDX verification code of their SHA-1 sums (sums/NAME).
analyzed() {
  if [ ! -f "$work/sums/$1" ]; then
    printf '"filesAnalyzed": false'
    return
  fi
  code=$(LC_ALL=C sort "$work/sums/$1" | tr -d '\n' | sha1sum)
  printf '"filesAnalyzed": true, "packageVerificationCode": {"packageVerificationCodeValue": "%s"}' "${code%% *}"
}

# package ID NAME VERSION PURL SOURCE: adds a package.
package() {
  printf ',\n    {"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION", '"$(analyzed "$2")"',
     "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", "sourceInfo": "%s",
     "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "%s"}]}' \
    "$1" "$2" "$3" "$5" "$4" >>"$work/packages"
}

debian_package() {
  dpkg-query -W -f '${Version} ${Architecture} ${source:Package} ${source:Version}\n' "$1" | sed 1q >"$work/about"
  read -r number architecture source source_version <"$work/about"
  purl="pkg:deb/debian/$(part "$1")@$(part "$number")?arch=$architecture&distro=debian-$VERSION_ID"
  [ "$1" != reprise ] || purl="pkg:generic/reprise@$version"
  package "deb-$(id "$1")" "$1" "$number" "$purl" "source package $source $source_version"
  relation image CONTAINS "deb-$(id "$1")"
}

cd "$image"
find . -type f | LC_ALL=C sort >"$work/names"
if grep -q '["\\[:cntrl:]]' "$work/names"; then
  echo "sbom.sh: a file name has a character that JSON would escape" >&2
  exit 1
fi
: >"$work/seen"
mkdir "$work/sums"
count=0
while read -r name; do
  count=$((count + 1))
  sha1=$(sha1sum "$name") sha256=$(sha256sum "$name")
  printf ',\n    {"SPDXID": "SPDXRef-file-%s", "fileName": "%s", "checksums": [{"algorithm": "SHA1", "checksumValue": "%s"},
     {"algorithm": "SHA256", "checksumValue": "%s"}], "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}' \
    "$count" "$name" "${sha1%% *}" "${sha256%% *}" >>"$work/files"
  owner=$(package_of "${name#.}")
  echo "${sha1%% *}" >>"$work/sums/${owner:-reprise-image}"
  if [ -z "$owner" ]; then
    relation image CONTAINS "file-$count"
    continue
  fi
  grep -qxF "$owner" "$work/seen" || echo "$owner" >>"$work/seen"
  relation "deb-$(id "$owner")" CONTAINS "file-$count"
done <"$work/names"
while read -r owner; do debian_package "$owner"; done <"$work/seen"

while read -r source number; do
  package "source-$(id "$source")" "$source" "$number" "pkg:deb/debian/$(part "$source")@$(part "$number")?arch=source" "compiled into reprise"
  relation deb-reprise STATIC_LINK "source-$(id "$source")"
done <usr/share/doc/reprise/compiled-in

cat <<JSON
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "reprise-image-$version",
  "documentNamespace": "https://spdx.org/spdxdocs/reprise-image-$version-$(sha256sum <"$work/files" | cut -c1-32)",
  "creationInfo": {"created": "$(date -u ${SOURCE_DATE_EPOCH:+-d "@$SOURCE_DATE_EPOCH"} +%Y-%m-%dT%H:%M:%SZ)", "creators": ["Tool: reprise-sbom.sh-$version"]},
  "packages": [
    {"SPDXID": "SPDXRef-image", "name": "reprise-image", "versionInfo": "$version", "downloadLocation": "NOASSERTION", $(analyzed reprise-image),
     "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", "primaryPackagePurpose": "CONTAINER"}$(cat "$work/packages")
  ],
  "files": [
    $(sed 1d "$work/files")
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-image"}$(cat "$work/relations")
  ]
}
JSON
