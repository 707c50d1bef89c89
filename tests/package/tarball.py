"""Tests the tarball: it is packed from the existing build, and its program runs from any folder of a host that
does not have the libraries of the program."""
import os
import re

from harness import equal
from host import Debian
from stage import ROOT, block, need, options, run, shell


def test_tarball_runs_from_any_folder_with_its_own_libraries(stage):
    need("patchelf", "xz")
    folder = os.path.dirname(os.path.realpath(options.binary))
    made = run(*shell(block("tarball").replace("build/release", folder)), cwd=ROOT).split()[-1]
    there = Debian(stage.copy_of_base("relocated"))
    run("tar", "-xJf", made, "-C", there.root / "opt")
    name, = os.listdir(there.root / "opt")
    assert re.fullmatch(r"reprise-[0-9.]+-linux-(amd64|arm64)", name), name
    there.must(f"mv /opt/{name} '/srv/some where'")
    linked = there.must("ldd '/srv/some where/bin/reprise'")
    outside = {line.split()[0] for line in linked.splitlines() if "/srv/some where/" not in line}
    equal({name for name in outside if not re.match(r"(linux-vdso|libc|libm|/lib64/ld-linux.*|/lib/ld-linux.*)\.so|/lib", name)}, set(), linked)
    said = there.must("""cd '/srv/some where'; ip link set lo up
bin/reprise check -c etc/reprise.yaml >/dev/null
bin/reprise demo --bind 127.0.0.1:3190 >/dev/null 2>&1 & trap 'kill $!' EXIT
until (exec 3<>/dev/tcp/127.0.0.1/3190) 2>/dev/null; do sleep 0.05; done
bin/reprise exec -- curl -s --noproxy '' -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:3190/flaky?id=1""")
    assert "200" in said and "1 recovered" in said, said
    licences = {path.name for path in (there.root / "srv/some where/share/doc/reprise/licences").iterdir()}
    libraries = {path.name for path in (there.root / "srv/some where/lib/reprise").iterdir()}
    equal(len(licences), len({library for library in libraries if library != "libcrypto.so.3"}), (licences, libraries))
