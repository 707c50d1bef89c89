"""From nothing to the first retried request: a host without the libraries, the package and what it needs in apt's cache."""
import os
import time

from host import Container
from hosted import asked
from stage import block, need, run


def test_fresh_host_retries_its_first_request(stage):
    """The seconds are printed and not judged: they belong to the machine. The container's start and the download are not in them."""
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
