"""Makes the picture of the status page for the documentation."""
import struct
import zlib
from pathlib import Path

from chromium import Page
from traffic import Scene

MOST = 200_000  # maximum size of the picture in bytes, because the front page loads the picture


def show(page, scene):
    """Opens the page, and waits until its charts show 25 seconds of data."""
    page.open(scene.url)
    page.expect("document.querySelectorAll('#stories-list > li').length >= 6", "some stories")
    page.expect("page.tiles.recent.samples.length >= 25", "half a minute of numbers")


def chunks(png):
    """Yields (kind, data) of each chunk of a PNG file."""
    at = 8
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        yield kind, png[at + 8:at + 8 + size]
        at += 12 + size


def packed(png):
    """Returns the PNG compressed again, at the highest level: browsers use a lower level, which is faster."""
    kept = list(chunks(png))
    lines = zlib.compress(zlib.decompress(b"".join(data for kind, data in kept if kind == b"IDAT")), 9)
    out = png[:8]
    for kind, data in [(b"IHDR", dict(kept)[b"IHDR"]), (b"IDAT", lines), (b"IEND", b"")]:
        out += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return out


def renew(browser, folder):
    file = Path(folder) / "status-page.png"
    with Scene() as scene, Page(browser, width=1200, height=1040) as page:
        show(page, scene)
        page.picture(file, whole=False)
    file.write_bytes(packed(file.read_bytes()))
    if file.stat().st_size > MOST:
        raise SystemExit(f"{file} has {file.stat().st_size} bytes: make the window smaller")
