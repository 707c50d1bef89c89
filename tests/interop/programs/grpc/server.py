"""A gRPC server that fails as the caller asks: python3 server.py [CERTIFICATE KEY]. Prints its port, and its port for TLS.

Methods of probe.Probe: Unary echoes its message, ClientStream returns the messages as one, ServerStream returns its message three
times, Bidi echoes every message. Slow sends one message and waits until the call is cancelled; Cancelled returns how often
that has happened. Messages are bytes.

Metadata of the caller: the first `x-fail` attempts of a call `x-call` end with UNAVAILABLE before any message. `x-probe-bin`
is returned in the initial metadata and in the trailers."""
import collections
import concurrent.futures
import sys
import threading

import grpc

# Accepts pings every 5 s.
OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.http2.min_ping_interval_without_data_ms", 5000),
           ("grpc.keepalive_permit_without_calls", 1))
attempts = collections.Counter()
cancelled = [0]  # number of calls of Slow that have ended


def begin(context):
    given = dict(context.invocation_metadata())
    call = given.get("x-call")
    attempts[call] += 1
    if call and attempts[call] <= int(given.get("x-fail", 0)):
        context.abort(grpc.StatusCode.UNAVAILABLE, f"attempt {attempts[call]} fails")
    value = given.get("x-probe-bin")
    if value is not None:
        context.send_initial_metadata((("x-probe-bin", value),))
        context.set_trailing_metadata((("x-trailer-bin", value),))


def unary(request, context):
    begin(context)
    return request


def client_stream(requests, context):
    begin(context)
    return b"".join(requests)


def server_stream(request, context):
    begin(context)
    for _ in range(3):
        yield request


def bidi(requests, context):
    begin(context)
    yield from requests


def slow(request, context):
    ended = threading.Event()
    context.add_callback(ended.set)
    yield request
    ended.wait()
    cancelled[0] += 1


def how_often_cancelled(*_):
    return str(cancelled[0]).encode()


METHODS = {"Unary": grpc.unary_unary_rpc_method_handler(unary), "ClientStream": grpc.stream_unary_rpc_method_handler(client_stream),
           "ServerStream": grpc.unary_stream_rpc_method_handler(server_stream), "Bidi": grpc.stream_stream_rpc_method_handler(bidi),
           "Slow": grpc.unary_stream_rpc_method_handler(slow), "Cancelled": grpc.unary_unary_rpc_method_handler(how_often_cancelled)}


def main():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(32), options=OPTIONS)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("probe.Probe", METHODS),))
    ports = [server.add_insecure_port("0.0.0.0:0")]
    if len(sys.argv) > 2:
        with open(sys.argv[1], "rb") as certificate, open(sys.argv[2], "rb") as key:
            ports.append(server.add_secure_port("0.0.0.0:0", grpc.ssl_server_credentials([(key.read(), certificate.read())])))
    server.start()
    print(*ports, flush=True)
    sys.stdin.read()  # the parent ends it
    server.stop(None)


if __name__ == "__main__":
    main()
