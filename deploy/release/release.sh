#!/usr/bin/env bash
# All steps of a release except the upload. .github/workflows/release.yml runs the same steps on several machines:
#
#   bash deploy/release/release.sh all FOLDER          every step below, on this machine
#   bash deploy/release/release.sh check [TAG]         checks that the tag, the program, the changelogs and the image have the same version
#   bash deploy/release/release.sh notes               prints the section of CHANGELOG.md
#   bash deploy/release/release.sh packages FOLDER     makes the packages and tarballs of all releases and architectures that this machine can build
#   bash deploy/release/release.sh image FOLDER        makes the image as an OCI archive, and its bill of materials, from the package in FOLDER
#   bash deploy/release/release.sh sums FOLDER         writes SHA256SUMS
#   bash deploy/release/release.sh provenance FOLDER   writes which files were built from which commit, as an unsigned in-toto statement (SLSA 1.0)
#   bash deploy/release/release.sh verify FOLDER       checks the files against the checksums and the provenance
#
# A version that CHANGELOG.md calls unreleased can be tried with REPRISE_REHEARSAL=1. REPRISE_ARCHITECTURE=arm64 names the architecture of
# the image; without it, the image is for this machine.
set -euo pipefail
step=${1:-} argument=${2:-}
[ -z "$argument" ] || [ "$step" = check ] || { mkdir -p "$argument"; argument=$(realpath "$argument"); }
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
version=$(sed -nE 's/^project\(reprise VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
# Builds of the step `packages`, as RELEASE:ARCHITECTURE. Only the first release makes tarballs.
targets=${REPRISE_TARGETS:-debian-12:amd64 debian-12:arm64 debian-13:amd64 debian-13:arm64 ubuntu-24.04:amd64 ubuntu-24.04:arm64}

fail() { echo "release.sh: $*" >&2; exit 1; }
needs_folder() { [ -n "$argument" ] || fail "$step needs a folder"; }

# The lines below the version's heading, without empty ones around them.
notes() {
  local heading="## $version"
  [ "${REPRISE_REHEARSAL:-}" != 1 ] || heading="## Unreleased ($version)"
  awk -v heading="$heading" '
    $0 == heading || index($0, heading " ") == 1 { inside = found = 1; next }
    /^## / { inside = 0 }
    inside { text = text $0 "\n" }
    END { if (!found) exit 3; sub(/^\n+/, "", text); sub(/\n+$/, "", text); print text }' CHANGELOG.md ||
    fail "CHANGELOG.md has no heading '$heading'"
}

check() {
  local word
  [ -z "${1:-}" ] || [ "$1" = "v$version" ] || fail "the tag is $1, and CMakeLists.txt says $version: tag v$version, or change the version"
  word=$(sed -nE '1s/^reprise \(([^-]+)-.*/\1/p' deploy/debian/changelog)
  [ "$word" = "$version" ] || fail "deploy/debian/changelog begins with $word, and CMakeLists.txt says $version"
  word=$(sed -nE 's/^ARG VERSION=//p' Dockerfile)
  [ "$word" = "$version" ] || fail "Dockerfile says VERSION=$word, and CMakeLists.txt says $version"
  word=$(notes) || exit 1
  [ -n "$word" ] || fail "the section of $version in CHANGELOG.md is empty"
  if [ -n "${1:-}" ] && [ -n "$(git status --porcelain)" ]; then fail "files differ from the commit"; fi
}

packages() {
  local target
  for target in $targets; do
    bash deploy/release/build.sh "${target%:*}" "${target#*:}" "$argument"
  done
}

# Uses docker if it has buildx, otherwise buildah. Packages are installed in the base image, so an image for another architecture than this
# machine's needs a kernel that can run its programs (binfmt_misc with qemu-user).
image() {
  local architecture package base
  architecture=${REPRISE_ARCHITECTURE:-$(dpkg --print-architecture)}
  base=${BASE:-debian:12-slim}
  package=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$package'" EXIT
  cp "$argument"/reprise_*~deb12_"$architecture".deb "$package/" || fail "no package of debian-12 for $architecture in $argument"
  local words=(--platform "linux/$architecture" --build-arg "BASE=$base" --build-arg "REVISION=$(git rev-parse HEAD)" --build-context "package=$package")
  local archive=$argument/reprise-$version-image-$architecture.oci.tar
  if docker buildx version >/dev/null 2>&1; then
    docker buildx build "${words[@]}" --output "type=oci,dest=$archive" -t "reprise:$version" .
    docker buildx build "${words[@]}" --target sbom --output "$package/sbom" .
  else
    # shellcheck disable=SC2086
    buildah ${BUILDAH_OPTIONS:-} build --isolation chroot "${words[@]}" -t "reprise:$version" .
    # shellcheck disable=SC2086
    buildah ${BUILDAH_OPTIONS:-} push -q "localhost/reprise:$version" "oci-archive:$archive:$version"
    # shellcheck disable=SC2086
    buildah ${BUILDAH_OPTIONS:-} build --isolation chroot "${words[@]}" --target sbom --output "$package/sbom" .
  fi
  cp "$package/sbom/reprise.spdx.json" "$argument/reprise-$version-image-$architecture.spdx.json"
}

# Prints the names of the released files.
artifacts() { find "$argument" -maxdepth 1 -type f ! -name SHA256SUMS ! -name '*.intoto.json' ! -name NOTES.md -printf '%f\n' | LC_ALL=C sort; }

sums() {
  local names
  mapfile -t names < <(artifacts)
  [ "${#names[@]}" -gt 0 ] || fail "nothing is in $argument"
  (cd "$argument" && sha256sum -- "${names[@]}" >SHA256SUMS)
}

provenance() {
  [ -s "$argument/SHA256SUMS" ] || fail "no SHA256SUMS in $argument: run sums before"
  python3 - "$argument" "$version" "$(git rev-parse HEAD)" "$(git log -1 --format=%cI)" >"$argument/reprise-$version.intoto.json" <<'PYTHON'
import json, os, pathlib, sys
folder, version, commit, time = sys.argv[1:]
lines = pathlib.Path(folder, "SHA256SUMS").read_text().splitlines()
source = os.environ.get("GITHUB_SERVER_URL", "https://localhost") + "/" + os.environ.get("GITHUB_REPOSITORY", "reprise")
print(json.dumps({
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": line.split("  ", 1)[1], "digest": {"sha256": line.split("  ", 1)[0]}} for line in lines],
    "predicateType": "https://slsa.dev/provenance/v1",
    "predicate": {
        "buildDefinition": {
            "buildType": source + "/blob/main/deploy/release/release.sh",
            "externalParameters": {"version": version},
            "resolvedDependencies": [{"uri": "git+" + source, "digest": {"gitCommit": commit}}],
        },
        "runDetails": {"builder": {"id": os.environ.get("GITHUB_WORKFLOW_REF", "local")}, "metadata": {"startedOn": time}},
    },
}, indent=2))
PYTHON
}

verify() {
  local names
  mapfile -t names < <(artifacts)
  (cd "$argument" && sha256sum --quiet --strict -c SHA256SUMS) || fail "a file differs from SHA256SUMS"
  [ "$(sed 's/^[0-9a-f]*  //' "$argument/SHA256SUMS")" = "$(printf '%s\n' "${names[@]}")" ] || fail "SHA256SUMS does not name exactly the files of $argument"
  python3 - "$argument" "$argument/reprise-$version.intoto.json" <<'PYTHON' || fail "the provenance does not name the files of SHA256SUMS"
import json, pathlib, sys
said = {part["name"]: part["digest"]["sha256"] for part in json.loads(pathlib.Path(sys.argv[2]).read_text())["subject"]}
sums = dict(reversed(line.split("  ", 1)) for line in pathlib.Path(sys.argv[1], "SHA256SUMS").read_text().splitlines())
sys.exit(said != sums)
PYTHON
}

case "$step" in
  check) check "$argument" ;;
  notes) notes ;;
  packages | image | sums | provenance | verify) needs_folder; "$step" ;;
  all)
    needs_folder
    check
    notes >"$argument/NOTES.md"
    packages
    image
    sums
    provenance
    verify
    ls -l "$argument"
    ;;
  *) sed -n 's/^#   //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
esac
