"""Tests transfers of every size. The upstream breaks the transfers at every kind of place. Each transfer must
be complete or visibly cut, and never have a wrong byte."""
from harness import Reprise, equal
from transfers import GIB, KIB, MIB, Break, Transfers, download, upload

SIZES = (0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB)
QUICK = {"retry": {"backoff": {"initial": "1ms", "maximum": "2ms"}}, "budget": "off"}
HOW = ("rst", "fin")


def offsets(size):
    """Returns positions in a body of the given size: both ends, positions next to the ends of buffers, and
    some positions in between."""
    places = {0, 1, 1000, 16 * KIB - 1, 16 * KIB, 16 * KIB + 1, 64 * KIB - 1, 64 * KIB, size // 2, size - 1}
    return sorted(place for place in places if 0 <= place < size)


def check_download(reprise, upstream, path, size, broken):
    """Checks that the download is complete, wherever the upstream broke it."""
    response, checker = download(reprise, upstream.url(path), size)
    assert checker.right, f"wrong bytes: {path} {broken}"
    equal((response.status, checker.whole), (200, True), f"{path} {broken}")
    return response, checker


def test_downloads_of_every_size_arrive_whole():
    with Transfers() as upstream, Reprise() as reprise:
        for size in (*SIZES, 100 * MIB):
            check_download(reprise, upstream, f"/{size}/whole", size, None)


def test_download_of_2_gib_arrives_whole():
    with Transfers() as upstream, Reprise() as reprise:
        check_download(reprise, upstream, f"/{2 * GIB}/whole", 2 * GIB, None)


def test_downloads_that_break_before_their_body_are_retried():
    with Transfers() as upstream, Reprise(defaults=QUICK) as reprise:
        for size in SIZES:
            for place in ("before_head", "in_head", "status"):
                for how in HOW:
                    path = f"/{size}/{place}-{how}"
                    upstream.breaks[path] = [Break(place, how=how), Break(place, how=how), None]
                    response, _ = check_download(reprise, upstream, path, size, upstream.breaks[path][0])
                    equal(response.attempts, 3, path)


def test_downloads_that_break_in_their_body_are_resumed():
    with Transfers() as upstream, Reprise(defaults=QUICK) as reprise:
        for size in (*SIZES, 100 * MIB):
            for offset in offsets(size):
                for how in HOW:
                    path = f"/{size}/{offset}-{how}"
                    upstream.breaks[path] = [Break("body", offset, how), None]
                    check_download(reprise, upstream, path, size, upstream.breaks[path][0])


def test_downloads_that_break_again_during_a_resume_arrive_whole():
    with Transfers() as upstream, Reprise(defaults=QUICK) as reprise:
        for size in (64 * KIB + 1, MIB, 100 * MIB):
            places = offsets(size)
            path = f"/{size}/again"
            upstream.breaks[path] = [Break("body", offset, HOW[i % 2]) for i, offset in enumerate(places)]
            for place in ("before_head", "in_head", "status"):  # a request that resumes the download may meet these faults, too
                upstream.breaks[path].insert(3, Break(place))
            upstream.breaks[path].append(None)
            check_download(reprise, upstream, path, size, upstream.breaks[path][0])
            ranges = [request.field("Range") for request in upstream.asked(path)]
            equal(ranges[0], None)
            equal(ranges[-1], f"bytes={size - 1}-", "all but the last byte was there")
            equal({request.field("If-Range") for request in upstream.asked(path)[1:]} - {None}, {'"whole-1"'})


def test_broken_download_without_a_validator_is_visibly_cut():
    with Transfers(etag=None) as upstream, Reprise(defaults=QUICK) as reprise:
        for size in (64 * KIB, MIB):
            for offset in offsets(size):
                for how in HOW:
                    path = f"/{size}/{offset}-{how}"
                    upstream.breaks[path] = [Break("body", offset, how), None]
                    response, checker = download(reprise, upstream.url(path), size)
                    equal((response.status, checker.right, checker.taken < size), (200, True, True), path)
                    equal(len(upstream.asked(path)), 1, f"{path}: nothing says that it would be the same")


def test_download_of_2_gib_that_breaks_in_the_middle_is_resumed():
    with Transfers() as upstream, Reprise(defaults=QUICK) as reprise:
        path = f"/{2 * GIB}/half"
        upstream.breaks[path] = [Break("body", GIB + 12345), None]
        check_download(reprise, upstream, path, 2 * GIB, upstream.breaks[path][0])


def check_upload(reprise, upstream, path, size, replayable, chunk=None):
    """Uploads to an upstream that breaks the upload. Checks that an incomplete upload is never counted as complete.
    A replayable upload must be complete after a retry."""
    response = upload(reprise, upstream.url(path), size, chunk)
    told = upstream.breaks.get(path, [None])[0]
    assert all(right for where, right in upstream.uploads if where == path), f"{path} {told}: wrong bytes"
    if told is None or replayable:
        assert response is not None, f"{path} {told}: no answer"
        equal((response.status, response.body), (200, b"%d bytes, right" % size), f"{path} {told} {response.reason}")
    else:
        assert response is None or response.status in (502, 503), f"{path} {told}: {response.status}"
    return response


def test_uploads_of_every_size_arrive_whole():
    with Transfers() as upstream, Reprise() as reprise:
        for size in (*SIZES, 100 * MIB):
            check_upload(reprise, upstream, f"/{size}/counted", size, True)
            check_upload(reprise, upstream, f"/{size}/chunked", size, True, chunk=True)


def test_upload_of_2_gib_arrives_whole():
    with Transfers() as upstream, Reprise() as reprise:
        check_upload(reprise, upstream, f"/{2 * GIB}/whole", 2 * GIB, True)


def breaks_of_an_upload(size):
    yield from (Break(place, how=how) for place in ("before_head", "after_upload", "in_head", "status") for how in HOW)
    yield from (Break("body", offset, how) for offset in offsets(size) for how in HOW)


def test_broken_uploads_held_in_memory_are_retried():
    held = {**QUICK, "replay": {"memory": "2MiB"}}
    with Transfers() as upstream, Reprise(defaults=held) as reprise:
        for size in SIZES:
            for number, told in enumerate(breaks_of_an_upload(size)):
                for chunk in (None, True):
                    path = f"/{size}/{number}-{chunk}"
                    upstream.breaks[path] = [told, told, None]
                    response = check_upload(reprise, upstream, path, size, True, chunk)
                    equal(response.attempts, 3, f"{path} {told}")


def test_broken_uploads_held_on_disk_are_retried():
    held = {**QUICK, "replay": {"memory": "64KiB", "disk": "200MiB"}}
    with Transfers() as upstream, Reprise(defaults=held) as reprise:
        for size in (64 * KIB + 1, MIB, 100 * MIB):
            for number, told in enumerate(breaks_of_an_upload(size) if size <= MIB else (Break("body", size // 2), Break("status"))):
                for chunk in (None, True):
                    path = f"/{size}/{number}-{chunk}"
                    upstream.breaks[path] = [told, told, None]
                    response = check_upload(reprise, upstream, path, size, True, chunk)
                    equal(response.attempts, 3, f"{path} {told}")
        reprise.expect_metric(0, "reprise_replay_bytes", store="disk")


def test_broken_uploads_too_long_to_be_held_are_not_retried():
    with Transfers() as upstream, Reprise(defaults={**QUICK, "replay": {"memory": "1KiB", "disk": "0"}}) as reprise:
        for size in (100 * MIB, 2 * GIB):
            for number, told in enumerate((Break("body", 5 * MIB), Break("body", size // 4, "fin"), Break("body", 64 * KIB))):
                path = f"/{size}/{number}"
                upstream.breaks[path] = [told, None]
                response = check_upload(reprise, upstream, path, size, False)
                equal((response.status, response.reason), (502, "not_replayable"), f"{path} {told}")
