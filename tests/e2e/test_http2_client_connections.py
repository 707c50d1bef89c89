"""Tests rows M44, M61 to M66, M93, M101 and M105 of docs/requirements/http2.md: how connections of HTTP/2 clients live, drain and end."""
import os
import signal
import socket
import threading

import http2_frames as h2
from client import Client
from control import Controlled
from harness import LOOPBACK, PATIENCE, equal, eventually, tcp_socket
from http2_client import Http2Client
from http2_upstream import Gate, Http2Upstream, Reply, hangs
from test_http2_client_messages import VERSIONS, asking
from transfers import MIB
from upstream import Upstream


def streams(reprise, side="client"):
    return reprise.metric("reprise_http2_streams", side=side)


def test_M44_large_response_does_not_stop_small_ones():
    narrow = {"opens_windows": False, "settings": {h2.INITIAL_WINDOW_SIZE: MIB}}
    with Http2Upstream({"/large": [Reply(200, bytes(8 * MIB))]}) as upstream, asking(upstream, client=narrow) as (client, _):
        large = client.begin(path="/large")
        client.until(lambda: client.responses[large].size > 0)
        for number in range(20):
            equal(client.ask(path=f"/small{number}").status, 200)
        equal(client.responses[large].ended, False)
        client.open_window(0, 8 * MIB)
        client.open_window(large, 8 * MIB)
        equal(client.response(large).size, 8 * MIB)


def test_M44_kernel_takes_only_a_small_part_of_a_response_that_is_not_read():
    with Http2Upstream({"/large": [Reply(200, bytes(16 * MIB))]}) as upstream, asking(upstream) as (_, reprise), socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        slow.connect(reprise.gateway)
        with Http2Client(connection=slow, authority="%s:%d" % reprise.gateway) as client:
            client.begin(path="/large")
            samples = []
            def is_steady():
                samples.append(tcp_socket(reprise.gateway[1], slow.getsockname()[1]).unsent)
                return len(samples) > 20 and 0 < samples[-1] == samples[-20]
            eventually(is_steady, "the kernel takes no more")
            assert samples[-1] <= MIB // 2, samples[-1]


def test_M93_download_of_a_client_that_reads_4_kib_at_a_time_is_not_a_flood():
    # A client of Go opens both windows after each 4 KiB that its caller has read.
    part = 4096
    with Http2Upstream({"/large": [Reply(200, bytes(32 * MIB))]}) as upstream, asking(upstream, client={"opens_windows": False}) as (client, reprise):
        large = client.begin(path="/large")
        response, opened = client.responses[large], 0
        while not response.ended:
            client.take_frame()
            assert not client.goaways, client.goaways
            while opened + part <= response.size:
                client.open_window(0, part)
                client.open_window(large, part)
                opened += part
        equal((response.size, reprise.metric("reprise_http2_floods_total")), (32 * MIB, 0))


def test_M61_pings_are_acknowledged_and_not_forwarded():
    with Http2Upstream({"/x": [hangs]}) as upstream, asking(upstream) as (client, _):
        client.begin()
        upstream.heads_seen(1)
        for number in range(20):
            client.send(h2.frame(h2.PING, 0, 0, h2.number(number) * 2))
        client.until(lambda: len(client.pongs) == 20)
        client.reset_stream(1)
        equal((client.pongs[-1], upstream.links[0].pinged), (h2.number(19) * 2, 0))


def test_M101_client_that_only_pings_makes_room_for_a_new_one():
    with Upstream() as upstream, asking(upstream, "never", configuration={"threads": 1, "limits": {"connections": 2}}) as (pinging, reprise):
        equal(pinging.ask().status, 200)
        with Http2Client(reprise.gateway) as later:
            equal(later.ask().status, 200)
            pinging.send(h2.frame(h2.PING, 0, 0, b"12345678"))
            pinging.until(lambda: pinging.pongs)
            def gets_in():
                with Client(reprise.gateway) as newcomer:
                    newcomer.send(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                    return newcomer.read_response().status == 200
            eventually(gets_in, "the client that has asked nothing for longest makes room")
            equal(pinging.read_to_goaway(), h2.NO_ERROR)
            equal(later.ask().status, 200)
        assert reprise.metric("reprise_limits_hit_total", limit="room") >= 1


def test_M62_idle_connection_ends_with_goaway():
    with Upstream() as upstream, asking(upstream, "never", configuration={"timers": {"keep_alive": "50ms"}}) as (client, reprise):
        equal(client.ask().status, 200)
        equal((client.read_to_goaway(), client.goaways), (h2.NO_ERROR, [(h2.MOST_STREAMS, h2.NO_ERROR), (1, h2.NO_ERROR)]))
        equal(reprise.metric("reprise_limits_hit_total", limit="keep_alive"), 1)


def test_M64_drain_serves_what_the_client_sends_before_it_knows():
    gate = Gate()
    gate.open.clear()
    with Http2Upstream({"/slow": [gate]}) as upstream, asking(upstream, client={"acknowledges": True}) as (client, reprise):
        slow = client.begin(path="/slow")
        upstream.heads_seen(1)
        os.kill(reprise.process.pid, signal.SIGTERM)
        client.until(lambda: client.goaways)
        equal(client.goaways[0], (h2.MOST_STREAMS, h2.NO_ERROR))
        gate.open.set()
        equal(client.response(slow).status, 200)
        equal((client.read_to_goaway(), client.goaways[-1]), (h2.NO_ERROR, (slow, h2.NO_ERROR)))


def test_M64_drain_does_not_wait_for_a_client_that_does_not_answer_the_ping():
    with Http2Upstream() as upstream, asking(upstream, client={"acknowledges": False}) as (client, reprise):
        equal(client.ask().status, 200)
        os.kill(reprise.process.pid, signal.SIGTERM)
        equal(client.read_to_goaway(), h2.NO_ERROR)


def test_M64_streams_that_outlive_the_grace_are_cancelled():
    with Http2Upstream({"/x": [hangs]}) as upstream, asking(upstream, configuration={"shutdown": {"grace": "100ms"}}) as (client, reprise):
        stream = client.begin()
        upstream.heads_seen(1)
        os.kill(reprise.process.pid, signal.SIGTERM)
        response = client.response(stream)
        assert response.reset == h2.CANCEL or response.status == 503, (response.reset, response.status)


def test_M64_drain_that_can_be_undone_sends_new_requests_elsewhere_and_serves_open_ones():
    with Http2Upstream({"/slow": [hangs]}) as upstream:
        gateway = {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url("")}
        with Controlled(listeners=[gateway]) as reprise, Http2Client(reprise.gateway) as client, Http2Client(reprise.gateway) as unused:
            slow = client.begin(path="/slow")
            request = upstream.heads_seen(1)[0]
            equal(reprise.tell("drain")[0], 0)
            client.until(lambda: len(client.goaways) == 2)
            equal(client.goaways, [(h2.MOST_STREAMS, h2.NO_ERROR), (slow, h2.NO_ERROR)])
            client.begin(path="/late")
            upstream.links[0].respond(request, Reply(200))
            equal((client.response(slow).status, client.read_to_goaway()), (200, h2.NO_ERROR))
            equal(upstream.count("/late"), 0)
            equal((unused.ask(path="/first").status, unused.read_to_goaway()), (200, h2.NO_ERROR))


def test_M64_idle_connection_ends_when_a_drain_begins():
    with Upstream() as upstream:
        gateway = {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url("")}
        with Controlled(listeners=[gateway], defaults={"http2": "never"}) as reprise, Http2Client(reprise.gateway) as client:
            equal(client.ask().status, 200)
            equal(reprise.tell("drain")[0], 0)
            equal((client.read_to_goaway(), client.goaways), (h2.NO_ERROR, [(h2.MOST_STREAMS, h2.NO_ERROR), (1, h2.NO_ERROR)]))


def test_M64_second_signal_ends_the_process_while_streams_are_served():
    with Http2Upstream({"/x": [hangs]}) as upstream, asking(upstream) as (client, reprise):
        for _ in range(5):
            client.begin()
        upstream.heads_seen(5)
        for _ in range(2):
            os.kill(reprise.process.pid, signal.SIGTERM)
            client.until(lambda: client.goaways) if not client.goaways else None
        reprise.process.wait(PATIENCE)


def test_M108_frames_that_arrive_with_the_preface_are_counted():
    opening = h2.PREFACE + h2.settings_frame({}) + h2.frame(h2.GOAWAY, 0, 0, h2.number(0) + h2.number(h2.INTERNAL_ERROR))
    with Upstream() as upstream, asking(upstream, client={"opening": opening, "settings": None}) as (client, reprise):
        client.read_to_goaway()
        eventually(lambda: reprise.metric("reprise_http2_goaways_total", side="client", code="internal_error") == 1, "the GOAWAY is counted")


def test_M64_connection_of_a_listener_that_a_reload_removes_ends_after_its_next_response():
    forward = {"mode": "forward", "bind": f"{LOOPBACK}:0"}
    with Upstream() as upstream:
        gateway = {"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url("")}
        with Controlled(listeners=[forward, gateway], defaults={"http2": "never"}) as reprise, Http2Client(reprise.gateway) as client:
            equal(client.ask().status, 200)
            reprise.change(listeners=[forward])
            reprise.expect_reload("success")
            equal(client.ask().status, 200)
            equal((client.read_to_goaway(), client.goaways[-1]), (h2.NO_ERROR, (3, h2.NO_ERROR)))


def test_M64_stream_keeps_the_settings_of_its_listener_while_another_stream_takes_new_ones():
    with Http2Upstream({"/base/slow": [hangs]}) as upstream:
        def listeners(path):
            return [{"mode": "gateway", "bind": f"{LOOPBACK}:0", "upstream": upstream.url(path)}]
        with Controlled(listeners=listeners("/base")) as reprise, Http2Client(reprise.gateway) as client:
            slow = client.begin(path="/slow")
            request = upstream.heads_seen(1)[0]
            for number in range(1, 4):
                reprise.change(listeners=listeners(f"/other{number}"))
                reprise.expect_reload("success", number)
                equal(client.ask(path=f"/{number}").status, 200)
            upstream.links[0].respond(request, Reply(302, b"", [("location", upstream.url("/base/there"))]))
            equal(client.response(slow).field("location"), "http://%s:%d/there" % reprise.gateway)


def test_M65_reset_stream_ends_at_the_upstream_alone():
    for kind, http2 in VERSIONS:
        waits = threading.Event()
        def holds(connection, _request, _reader, waits=waits):
            while connection.recv(4096):
                pass
            waits.set()
            return False
        scripts = {"at_head": {"/x": lambda *_: None}} if kind is Http2Upstream else {"on_head": {"/x": holds}}
        with kind(**scripts) as upstream, asking(upstream, http2) as (client, reprise):
            stream = client.begin()
            eventually(lambda: streams(reprise) == 1, "the stream is served")
            if kind is Http2Upstream:
                upstream.heads_seen(1)
            client.reset_stream(stream)
            eventually(lambda: streams(reprise) == 0, "the stream has ended")
            if kind is Http2Upstream:
                eventually(lambda: upstream.heads[0].reset == h2.CANCEL, "the upstream's stream is reset")
            else:
                waits.wait(60)
            equal(client.ask(path="/y").status, 200)
            equal(reprise.requests(2)[0]["ending"], "client_gone")


def test_M65_reset_connection_ends_all_its_streams():
    with Http2Upstream({"/x": [hangs]}) as upstream, asking(upstream) as (client, reprise):
        for _ in range(5):
            client.begin()
        upstream.heads_seen(5)
        client.abort()
        eventually(lambda: streams(reprise) == 0 == streams(reprise, "upstream"), "no stream is left")
        equal({request.reset for request in upstream.heads}, {h2.CANCEL})


def test_M65_reset_connection_ends_a_response_that_its_window_holds_back():
    narrow = {"opens_windows": False, "settings": {h2.INITIAL_WINDOW_SIZE: 100}}
    with Http2Upstream({"/x": [Reply(200, bytes(3000))]}) as upstream, asking(upstream, client=narrow) as (client, reprise):
        stream = client.begin()
        client.until(lambda: client.responses[stream].size == 100)
        client.abort()
        eventually(lambda: streams(reprise) == 0 == streams(reprise, "upstream"), "no stream is left")
        equal(reprise.requests(1)[0]["ending"], "client_gone")


def test_M65_client_that_has_finished_gets_its_responses():
    gate = Gate()
    gate.open.clear()
    with Http2Upstream({"/x": [gate]}) as upstream, asking(upstream, client={"acknowledges": False, "opens_windows": False}) as (client, _):
        stream = client.begin()
        upstream.heads_seen(1)
        client.finish()
        gate.open.set()
        equal(client.response(stream).status, 200)
        equal(client.read_to_goaway(), h2.NO_ERROR)


def test_M65_response_that_the_closed_window_cannot_take_ends_after_the_fin():
    for open_window in (0, 100):
        gate = Gate(Reply(200, bytes(3000)))
        gate.open.clear()
        narrow = {"opens_windows": False, "acknowledges": False, "settings": {h2.INITIAL_WINDOW_SIZE: open_window}}
        with Http2Upstream({"/x": [gate]}) as upstream, asking(upstream, client=narrow) as (client, reprise):
            stream = client.begin()
            upstream.heads_seen(1)
            client.finish()
            gate.open.set()
            client.read_to_goaway()
            response = client.responses[stream]
            equal((response.status, response.size, response.ended), (200, open_window, False))
            equal(reprise.requests(1)[0]["ending"], "client_gone")
            eventually(lambda: streams(reprise) == 0 == reprise.metric("reprise_http2_connections", side="client"), "the connection has ended")


def test_M65_reset_after_the_fin_ends_the_streams():
    with Http2Upstream({"/x": [hangs]}) as upstream, asking(upstream) as (client, reprise):
        client.begin()
        upstream.heads_seen(1)
        client.finish()
        eventually(lambda: reprise.metric("reprise_http2_streams", side="client") == 1, "the stream is served")
        client.abort()
        eventually(lambda: streams(reprise) == 0 == streams(reprise, "upstream"), "no stream is left")
        equal(reprise.requests(1)[0]["ending"], "client_gone")


def test_M40_M98_response_that_the_window_has_cut_is_cancelled():
    narrow = {"opens_windows": False, "settings": {h2.INITIAL_WINDOW_SIZE: 100}}
    for size in (3000, 300_000):
        with Http2Upstream({"/x": [Reply(200, bytes(size))]}) as upstream, asking(upstream, client=narrow, idle_timeout="50ms") as (client, reprise):
            response = client.response(client.begin())
            equal((response.status, response.size, response.ended, response.reset), (200, 100, False, h2.CANCEL), f"{size}")
            equal(reprise.requests(1)[0]["ending"], "client_gone")


def test_M66_upstream_connection_stays_open_when_streams_are_cancelled():
    with Http2Upstream({"/x": [hangs]}) as upstream, asking(upstream) as (client, reprise):
        for _ in range(10):
            stream = client.begin()
            eventually(lambda: streams(reprise, "upstream") == 1, "the stream has reached the upstream")
            client.reset_stream(stream)
            eventually(lambda: streams(reprise, "upstream") == 0, "the stream has ended")
        equal((client.ask(path="/y").status, upstream.connections), (200, 1))


def test_M100_head_that_never_ends_closes_the_connection():
    silent = {"acknowledges": False}  # no other frame may come between those of a head
    with Http2Upstream({"/x": [hangs]}) as upstream, \
            asking(upstream, client=silent, configuration={"timers": {"header": "100ms"}}) as (client, reprise):
        client.begin()
        upstream.heads_seen(1)
        client.send(h2.frame(h2.HEADERS, 0, 3, b"\x82") + h2.frame(h2.CONTINUATION, 0, 3, b"\x87"))
        equal(client.read_to_goaway(), h2.NO_ERROR)
        eventually(lambda: streams(reprise) == 0, "the other stream has ended")
        equal(reprise.metric("reprise_limits_hit_total", limit="header"), 1)


def test_M105_client_that_reads_nothing_stops_only_itself():
    with Http2Upstream({"/large": [Reply(200, bytes(2 * MIB))]}) as upstream, asking(upstream, client={"settings": {h2.INITIAL_WINDOW_SIZE: 0}}) as (client, reprise):
        large = client.begin(path="/large")
        client.until(lambda: client.responses[large].status)
        with Http2Client(reprise.gateway) as other:
            equal(other.ask(path="/small").status, 200)
        client.open_window(large, 4 * MIB)
        equal(client.response(large).size, 2 * MIB)
