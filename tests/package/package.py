"""Tests the Debian package: it is packed without compiling, lintian accepts it, and it has all parts of a package with
a service."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

from harness import equal
from stage import ROOT, block, need, options, run, shell

PLACES = {
    "/usr/bin/reprise": None,
    "/etc/reprise/reprise.yaml": "deploy/debian/reprise.yaml",
    "/usr/share/doc/reprise/copyright": "deploy/debian/copyright",
    "/usr/share/reprise/schema.json": "config/schema.json",
    "/usr/share/reprise/alerts.yaml": "deploy/prometheus/alerts.yaml",
    "/usr/share/reprise/reprise.json": "deploy/grafana/reprise.json",
}


def member(deb, path):
    """Returns the content of one file of a Debian package."""
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(deb)], stdout=subprocess.PIPE) as tar:
        done = subprocess.run(["tar", "-xO", f".{path}"], stdin=tar.stdout, capture_output=True, check=True)
        tar.stdout.close()
        return done.stdout


def printed(*arguments):
    return subprocess.run([options.binary, *arguments], capture_output=True, check=True, timeout=60).stdout


def unpacked(compressed):
    return subprocess.run(["gzip", "-dc"], input=compressed, capture_output=True, check=True).stdout


def test_package_contains_the_already_built_program(stage):
    """Runs the packaging commands of deploy/README.md with a restrictive umask. The program in the package must be the
    program that was already built and tested."""
    need("cpack", "dpkg-shlibdeps", "file", "dpkg-deb")
    folder = Path(os.path.realpath(options.binary)).parent
    for old in folder.glob("*.deb"):
        old.unlink()
    before = os.stat(options.binary)
    run(*shell("umask 077\n" + block("pack").replace("build/release", str(folder))), cwd=ROOT)
    after = os.stat(options.binary)
    equal((after.st_mtime_ns, after.st_ino), (before.st_mtime_ns, before.st_ino), "the program is the one that was there")
    stage.deb, = folder.glob("*.deb")
    equal(member(stage.deb, "/usr/bin/reprise") == Path(options.binary).read_bytes(), True, "and is what was packed")


def test_lintian_reports_no_error_and_no_warning(stage):
    need("lintian")
    done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error,warning", str(stage.packed())], capture_output=True, text=True,
                          timeout=300, check=False)
    equal((done.returncode, done.stdout), (0, ""), done.stderr)
    lines = (ROOT / "deploy/debian/lintian-overrides").read_text(encoding="utf-8").splitlines()
    for reason, override in zip(["", *lines], lines):
        assert override.startswith("#") or reason.startswith("# "), f"no reason stands over: {override}"


def test_package_contains_every_expected_file_with_its_current_content(stage):
    deb = stage.packed()
    for path, source in PLACES.items():
        equal(bool(member(deb, path)) and (source is None or member(deb, path) == (ROOT / source).read_bytes()), True, path)
    equal(unpacked(member(deb, "/usr/share/man/man1/reprise.1.gz")), printed("man"))
    equal(unpacked(member(deb, "/usr/share/man/man5/reprise.yaml.5.gz")), printed("man", "reprise.yaml"))
    for path, kind in (("bash-completion/completions/reprise", "bash"), ("zsh/vendor-completions/_reprise", "zsh"),
                       ("fish/vendor_completions.d/reprise.fish", "fish")):
        equal(member(deb, f"/usr/share/{path}"), printed("completion", kind), path)
    equal(unpacked(member(deb, "/usr/share/doc/reprise/changelog.gz")), (ROOT / "CHANGELOG.md").read_bytes())
    newest = unpacked(member(deb, "/usr/share/doc/reprise/changelog.Debian.gz")).decode().split(")")[0]
    equal(newest, f"reprise ({run('dpkg-deb', '-f', deb, 'Version').strip()}")
    equal(printed("version").decode().split()[1], newest.split("(")[1].rpartition("-")[0], "the program's version and the package's")
    control = Path(tempfile.mkdtemp(dir=stage.folder))
    run("dpkg-deb", "-e", deb, control)
    equal((control / "conffiles").read_text(encoding="utf-8"), "/etc/reprise/reprise.yaml\n")
    for script in ("postinst", "prerm", "postrm"):
        run("sh", "-n", control / script)


def test_release_build_is_configured_by_the_documented_commands(stage):
    """Configures the build in a separate folder, and checks which files would be compiled. Compiles nothing, because a
    compilation takes minutes and would repeat the release build."""
    need("cmake", "ninja")
    folder = stage.folder / "configured"
    configure, build = block("build").splitlines()
    run(*shell(f"{configure} -B {folder}"), cwd=ROOT)
    kept = (folder / "CMakeCache.txt").read_text(encoding="utf-8")
    for line in ("CMAKE_BUILD_TYPE:STRING=Release", "CMAKE_INSTALL_PREFIX:PATH=/usr", "REPRISE_TESTS:BOOL=OFF", "REPRISE_WERROR:BOOL=OFF"):
        assert f"\n{line}\n" in kept, line
    built = re.fullmatch(r"cmake --build build/release --target (\w+)", build)
    said = run("ninja", "-C", folder, "-t", "commands", built[1])
    assert " -o reprise " in said and "_test" not in said, said[-2000:]


def test_plain_installation_contains_the_same_files_without_debian_specifics(stage):
    """Tests `cmake --install`, which other packagers use. It must write only below its prefix."""
    place = stage.folder / "plain"
    run(*shell(block("install below").replace("/tmp/package", str(place))), cwd=ROOT)
    files = {str(file.relative_to(place)): file for file in place.rglob("*") if file.is_file()}
    equal([path for path in files if not path.startswith("usr/local/") or "systemd" in path or "lintian" in path or path.endswith(".gz")], [])
    for path, said in (("man/man1/reprise.1", ["man"]), ("man/man5/reprise.yaml.5", ["man", "reprise.yaml"]), ("bash-completion/completions/reprise", ["completion", "bash"]),
                       ("zsh/site-functions/_reprise", ["completion", "zsh"]), ("fish/vendor_completions.d/reprise.fish", ["completion", "fish"])):
        equal(files[f"usr/local/share/{path}"].read_bytes(), printed(*said), path)
    equal({"usr/local/bin/reprise", "usr/local/share/doc/reprise/LICENSE", "usr/local/share/doc/reprise/" "CHANGELOG.md"} - set(files), set())


def test_packaged_configuration_file_equals_the_defaults(stage):
    """Also checks the example at the end of the packaged reprise.yaml: it must load when its comment marks are
    removed."""
    with tempfile.TemporaryDirectory(dir=stage.folder) as folder:
        plain, shipped, uncommented = (Path(folder, name) for name in ("plain.yaml", "shipped.yaml", "uncommented.yaml"))
        text = member(stage.packed(), "/etc/reprise/reprise.yaml").decode()
        plain.write_text("version: 1\n", encoding="utf-8")
        shipped.write_text(text, encoding="utf-8")
        head, mark, example = text.partition("#routes:")
        uncommented.write_text(head + (mark + example).replace("\n#", "\n").removeprefix("#"), encoding="utf-8")
        equal(printed("config", "--effective", "-c", str(shipped)), printed("config", "--effective", "-c", str(plain)))
        assert b"name: orders" in printed("config", "--effective", "-c", str(uncommented))


def test_packaged_units_start_the_packaged_program(stage):
    for unit in ("reprise.service", "reprise.socket", "reprise-redirect.service"):
        ours = member(stage.packed(), f"/usr/lib/systemd/system/{unit}").decode()
        equal(ours, (ROOT / "deploy/systemd" / unit).read_text(encoding="utf-8").replace("/usr/local/bin/", "/usr/bin/"))
        assert "/usr/local" not in ours, ours


def test_package_depends_on_every_library_the_program_links(stage):
    """The field Depends must list the package of every library that the program uses. Otherwise the program cannot
    start on a host without that library."""
    depends = stage.depends()
    for library in re.findall(r"=> (/\S+)", run("ldd", options.binary)):
        for path in (library, os.path.realpath(library), os.path.realpath(library).removeprefix("/usr")):
            done = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                assert done.stdout.split(":")[0] in depends, (done.stdout, depends)
                break
        else:
            raise AssertionError(f"no package has {library}")
