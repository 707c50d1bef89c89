"""Tests the package on a fresh host, from the installation to the first retried request. The libraries on which the
package depends are not installed on the host, but are in apt's cache."""
import os
import time

from host import Container
from hosted import asked
from stage import block, need, run


def test_package_on_a_fresh_host_retries_the_first_request(stage):
    """Prints how many seconds installation and first request take, without the start of the container and the download.
    No limit is checked, because the time depends on the machine."""
    need("mmdebstrap", "systemd-nspawn", "nsenter")
    deb, root = stage.packed(), stage.folder / "fresh"
    run("mmdebstrap", "--quiet", "--variant=minbase", "--dpkgopt=force-unsafe-io", '--aptopt=Acquire::Languages "none"',
        "--include=systemd,systemd-sysv,ca-certificates,curl,iproute2", "--skip=cleanup/apt/lists,cleanup/apt/cache",
        f"--customize-hook=cp {deb} $1/root", f'--customize-hook=chroot "$1" apt-get install -y --download-only /root/{deb.name}',
        "bookworm", root, patience=900, env={**os.environ, "TMPDIR": str(stage.folder)})
    there = Container(root)
    with there:
        assert there.ask("command -v reprise").code != 0, "nothing of reprise is there"
        begin = time.monotonic()
        said = there.must(block("install"))
        installed = time.monotonic()
        assert said.splitlines()[-1] == "active", said
        asked(there)
        end = time.monotonic()
    run("rm", "-rf", "--one-file-system", root)
    print(f"from nothing to the first retried request: {end - begin:.1f} s, of which the installation took {installed - begin:.1f} s", flush=True)
