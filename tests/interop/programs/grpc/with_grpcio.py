"""Makes gRPC calls of all kinds with grpcio: python3 with_grpcio.py TARGET plain|tls CHECKS [SECONDS]. Fails if a call fails.

CHECKS: calls (the four kinds; each fails twice), rest (deadline, cancel, binary metadata, 4 MiB), pings (SECONDS with a ping every
10 s). Several words are separated by commas."""
import os
import sys
import time

import grpc

LARGE = 4 * 1024 * 1024
BINARY = bytes(range(256))


def kinds(channel):
    def method(name, make):
        return getattr(channel, make)(f"/probe.Probe/{name}")
    return (method("Unary", "unary_unary"), method("ClientStream", "stream_unary"), method("ServerStream", "unary_stream"),
            method("Bidi", "stream_stream"), method("Slow", "unary_stream"), method("Cancelled", "unary_unary"))


def check_calls(channel):
    unary, client_stream, server_stream, bidi, *_ = kinds(channel)
    for repeat in range(5):
        def flaky(name, number=repeat):
            return (("x-call", f"{name}-{number}-{os.getpid()}"), ("x-fail", "2"))
        assert unary(b"one", metadata=flaky("unary")) == b"one"
        assert client_stream(iter((b"one", b"two", b"three")), metadata=flaky("client")) == b"onetwothree"
        assert list(server_stream(b"one", metadata=flaky("server"))) == [b"one"] * 3
        assert list(bidi(iter((b"one", b"two", b"three")), metadata=flaky("bidi"))) == [b"one", b"two", b"three"]


def check_rest(channel):
    unary, client_stream, _, _, slow, cancelled = kinds(channel)
    value, call = unary.with_call(b"one", metadata=(("x-probe-bin", BINARY),))
    assert (value, dict(call.initial_metadata())["x-probe-bin"], dict(call.trailing_metadata())["x-trailer-bin"]) == (b"one", BINARY, BINARY)
    large = os.urandom(LARGE)
    assert unary(large) == large
    assert client_stream(iter((large, large))) == large + large
    before = int(cancelled(b""))
    try:
        list(slow(b"x", timeout=0.5))
        raise AssertionError("no deadline")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, error
    stream = slow(b"x")
    assert next(stream) == b"x"
    stream.cancel()
    while int(cancelled(b"")) < before + 2:  # the server notices both ends
        pass


def check_pings(channel):
    unary, *_, slow, _ = kinds(channel)
    stream = slow(b"x")
    assert next(stream) == b"x"
    time.sleep(int(sys.argv[4]))
    assert unary(b"one") == b"one"
    assert stream.is_active(), stream
    stream.cancel()


def main():
    target, security, checks = sys.argv[1:4]
    options = (("grpc.max_receive_message_length", -1), ("grpc.keepalive_time_ms", 10_000), ("grpc.keepalive_permit_without_calls", 1),
               ("grpc.http2.max_pings_without_data", 0), ("grpc.enable_retries", 0))
    made = grpc.secure_channel(target, grpc.ssl_channel_credentials(), options) if security == "tls" else grpc.insecure_channel(target, options)
    with made as channel:
        for check in checks.split(","):
            {"calls": check_calls, "rest": check_rest, "pings": check_pings}[check](channel)
    print("ok")


if __name__ == "__main__":
    main()
