"""Compares the bill of materials with the image: it must list every file with its checksum, every package as dpkg knows
it, and nothing else."""
import hashlib
import json
import re
import shutil

from harness import equal
from stage import run

# Files of the image that belong to no package, because fill.sh writes them.
OURS = {"/etc/group", "/etc/nsswitch.conf", "/etc/passwd", "/var/lib/dpkg/status"}
FIELDS = {"SPDXID", "name", "downloadLocation", "versionInfo", "licenseConcluded", "licenseDeclared", "copyrightText"}


def dpkg(stage, *arguments):
    """Returns dpkg's output in the base from which the image was made."""
    return run("chroot", stage.base(), "dpkg-query", *arguments)


def check_form(bill):
    """Checks the fields that SPDX 2.3 requires of each part. Every reference has exactly one target."""
    equal((bill["spdxVersion"], bill["dataLicense"], bill["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
    assert re.fullmatch(r"https://spdx\.org/spdxdocs/[\w.-]+", bill["documentNamespace"]), bill["documentNamespace"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["creationInfo"]["created"]), bill["creationInfo"]
    assert all(re.fullmatch(r"(Tool|Organization|Person): .+", creator) for creator in bill["creationInfo"]["creators"])
    names = [part["SPDXID"] for part in [bill, *bill["packages"], *bill["files"]]]
    equal(len(names), len(set(names)), "each reference is of one thing")
    for name in names:
        assert re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name), name
    for package in bill["packages"]:
        equal(FIELDS - set(package), set(), package["name"])
    for relation in bill["relationships"]:
        assert relation["spdxElementId"] in names and relation["relatedSpdxElement"] in names, relation
        assert relation["relationshipType"] in ("DESCRIBES", "CONTAINS", "STATIC_LINK"), relation


def check_files(bill, root, files):
    equal(sorted(file["fileName"].removeprefix(".") for file in bill["files"]), sorted(files))
    for file in bill["files"]:
        content = (root / file["fileName"]).read_bytes()
        sums = {check["algorithm"]: check["checksumValue"] for check in file["checksums"]}
        equal(sums, {"SHA1": hashlib.sha1(content).hexdigest(), "SHA256": hashlib.sha256(content).hexdigest()}, file["fileName"])


def check_packages(stage, bill):
    """Checks that the version of each package equals the version that dpkg reports, and that the bill assigns each file
    to a package that contains it."""
    owners = {}  # file: packages that contain it
    named = {part["SPDXID"]: part.get("name") or part["fileName"] for part in [*bill["packages"], *bill["files"]]}
    for relation in bill["relationships"]:
        if relation["relationshipType"] == "CONTAINS" and "-file-" in relation["relatedSpdxElement"]:
            owners.setdefault(named[relation["relatedSpdxElement"]].removeprefix("."), []).append(named[relation["spdxElementId"]])
    equal({path for path, names in owners.items() if names == ["reprise-image"]}, OURS)
    for path, names in owners.items():
        equal(len(names), 1, path)
    for package in bill["packages"]:
        if package["SPDXID"].startswith("SPDXRef-deb-") and package["name"] != "reprise":
            name = package["name"]
            version, architecture = dpkg(stage, "-W", "-f", "${Version} ${Architecture}", name).split()
            locator, = (one["referenceLocator"] for one in package["externalRefs"])
            equal(package["versionInfo"], version, name)
            encoded = version.replace("+", "%2B").replace(":", "%3A")
            equal(locator, f"pkg:deb/debian/{name.replace('+', '%2B')}@{encoded}?arch={architecture}&distro=debian-12")
            listed = {path.split("/")[-1] for path in dpkg(stage, "-L", name).splitlines()} | {"ca-certificates.crt", "copyright"}
            theirs = [path for path, names in owners.items() if names == [name]]
            equal([path for path in theirs if path.split("/")[-1] not in listed], [], name)
            assert theirs, f"{name} has no file in the image"
    return {package["name"]: package["versionInfo"] for package in bill["packages"]}


def check_codes(bill):
    """Checks the verification code of each package that has files in the image: which is computed from the checksums of
    these files (SPDX 2.3, 7.9)."""
    sums = {file["SPDXID"]: next(one["checksumValue"] for one in file["checksums"] if one["algorithm"] == "SHA1") for file in bill["files"]}
    for package in bill["packages"]:
        theirs = sorted(sums[relation["relatedSpdxElement"]] for relation in bill["relationships"]
                        if relation["spdxElementId"] == package["SPDXID"] and relation["relatedSpdxElement"] in sums)
        equal(package["filesAnalyzed"], bool(theirs), package["name"])
        if theirs:
            code = hashlib.sha1("".join(theirs).encode()).hexdigest()
            equal(package["packageVerificationCode"], {"packageVerificationCodeValue": code}, package["name"])


def check_by_the_validator_of_spdx(file):
    """Runs the validator of the Python package spdx-tools if it is installed. Debian has no such package."""
    validator = shutil.which("pyspdxtools")
    if validator is not None:
        run(validator, "-i", str(file))


def check_status(root, bill):
    """Checks /var/lib/dpkg/status, which scanners read: it must list every Debian package that has a file in the
    image."""
    status = (root / "var/lib/dpkg/status").read_text(encoding="utf-8")
    named = {package["name"] for package in bill["packages"] if package["SPDXID"].startswith("SPDXRef-deb-")}
    missing = named - set(re.findall("^Package: (.*)$", status, re.MULTILINE))
    equal(missing - {"base-files"}, set(), "os-release and licences alone are of base-files")
    assert "\nVERSION_ID=" in (root / "etc/os-release").read_text(encoding="utf-8")


def check(stage, root, file, files):
    bill = json.loads(file.read_text(encoding="utf-8"))
    check_form(bill)
    check_files(bill, root, files)
    check_codes(bill)
    check_status(root, bill)
    check_by_the_validator_of_spdx(file)
    versions = check_packages(stage, bill)
    equal(versions["reprise"], run("dpkg-deb", "-f", stage.packed(), "Version").strip())
    compiled = {named["name"] for named in bill["packages"] if named["SPDXID"].startswith("SPDXRef-source-")}
    equal(compiled, {"boost1.81", "cli11"}, "libraries of headers, whose code is in the program")
    linked = [relation for relation in bill["relationships"] if relation["relationshipType"] == "STATIC_LINK"]
    equal(len(linked), len(compiled))
