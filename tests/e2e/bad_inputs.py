"""Generates thousands of malformed HTTP messages, each with the expected result. Puts each forbidden byte and
each malformed element at every place of the grammar of RFC 9112. Derives the expected result from that place,
not from what the program returns."""

CONTROLS = [bytes([byte]) for byte in (*range(0x20), 0x7f)]
NO_TAB = [byte for byte in CONTROLS if byte != b"\t"]
HIGH = [bytes([byte]) for byte in range(0x80, 0x100)]
DELIMITERS = [bytes([byte]) for byte in b'"(),/;<=>?@[\\]{}']
NO_TOKEN = CONTROLS + HIGH + DELIMITERS
VERSIONS = (b"1.0", b"1.1")
METHODS = (b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"FROB")
CHUNKED = b"Transfer-Encoding: chunked\r\n"

TRANSFER_ENCODINGS = [
    b"xchunked", b"chunkedx", b"chunked,", b",chunked", b"chunked, chunked", b"chunked,chunked",
    b"chunked;", b"chunked;q=1", b"chunked; a=b", b"identity", b"identity, chunked", b"chunked, identity", b"chunked, gzip", b"",
    b"\"chunked\"", b"'chunked'", b"gzip chunked", b"chun ked", b"chunked\xa0", b"\xa0chunked", b"\x85chunked", b"chunked\xff", b"cow",
    b"trailers", b"chunked=1", b"chunked/1", b"-chunked", b"+chunked", b"0", b",", b",,", b"chunked\r\nTransfer-Encoding: chunked",
    b"chunked\r\nTransfer-Encoding: identity", b"chunked\r\nTransfer-Encoding:", b"\r\nTransfer-Encoding: chunked"]
# Values of Transfer-Encoding that are invalid in a request and valid in a response. In a response, `identity`
# counts as absent.
IDENTITY = [b"identity", b"identity, chunked", b"chunked, identity", b"chunked\r\nTransfer-Encoding: identity"]
KNOWN_CODINGS = [b"gzip", b"gzip, Chunked", b"x-gzip", b"deflate", b"compress", b"x-compress", b"gzip, chunked", b"deflate, chunked", b"gzip, deflate",
                 b"GZIP", b"compress, gzip, chunked"]
LENGTHS = [b"", b"+5", b"-5", b"-0", b"0x5", b"5x", b"x5", b"5 5", b"5,5", b"5, 5", b"5,", b",5", b"5;", b"5.0", b"5e0", b"1_0", b"\"5\"", b"five",
           b"NaN", b"0b101", b"5\xa0", b"\xb2", b"\xd9\xa5", b"99999999999999999999", b"18446744073709551616", b"00000000000000000005",
           b"5\t5", b"()", b"5%", b"%35", b"5\r\nContent-Length:"]
HOSTS = [b"", b"a b", b"a,b", b"a/b", b"a@b", b"@", b"a?b", b"a#b", b"a%b", b"a%00", b"a\\b", b"a\"b", b"<a>", b"{a}", b"a|b", b"a^b", b"a`b", b"a;b",
         b"a=b", b"a&b", b"a!b", b"a$b", b"a'b", b"(a)", b"a*b", b"a+b", b"a:b", b"a:0", b"a:65536", b"a:99999", b"a:-1", b"a:+1", b"a:80:80",
         b"a:8 0", b"a:0x50", b":80", b"..", b".", b"a..b", b".a", b"[::1", b"::1", b"[]", b"[:]", b"[::1]x", b"[::1]:", b"[g::1]", b"[fe80::1%eth0]",
         b"[fe80::1%25eth0]", b"[v1.a]", b"[::1]]", b"]", b"l" * 64, b"a." + b"l" * 64, b".".join([b"l" * 50] * 6), b"\xc3\xa9", b"a\xff",
         b"http://a", b"a:80/", b"a?", b"a#"]
PORTLESS = b"[::1]:"  # RFC 3986 permits an authority with an empty port, such as `host:`; CONNECT does not
OTHER_MAJORS = [b"HTTP/0.9", b"HTTP/0.0", b"HTTP/2.0", b"HTTP/2.1", b"HTTP/3.0", b"HTTP/9.9"]
BAD_VERSIONS = [b"HTTP/2", b"HTTP/3", b"HTTP/1", b"HTTP/1.", b"HTTP/.1",
                b"HTTP/11", b"HTTP/01.1", b"HTTP/1,1", b"HTTP/x.1", b"HTTP/1.x", b"HTTP/2.00", b"HTTP/", b"HTTP", b"HTT/1.1", b"http/1.1",
                b"Http/1.1", b"hTTP/1.1", b"XHTTP/1.1", b"HTTPS/1.1", b"HTTP1.1", b"ICY/1.1", b"SIP/2.0", b"RTSP/1.0", b"HTTP-1.1", b"HTTP\\1.1",
                b"1.1", b"x", b"HTTP//1.1", b"HTTP/-1.1", b"HTTP/+1.1", b"HTTP/1.\xb9", b"\xefHTTP/1.1"]
TRAILING_VERSIONS = [b"HTTP/1.1x", b"HTTP/1.10", b"HTTP/1.11", b"HTTP/1.0x", b"HTTP/1.1.1", b"HTTP/1.1 ", b"HTTP/1.1\t", b"HTTP/1.1 x",
                     b"HTTP/1.1 HTTP/1.1", b"HTTP/1.1;", b"HTTP/1.0 "]
SCHEMES = [b"ftp", b"file", b"wsx", b"wsss", b"gopher", b"HTTPX", b"httpx", b"htp", b"x", b"unix", b"http+unix", b"javascript", b"data",
           b"1http", b"h2c"]


def head(method=b"GET", target=b"http://h/", version=b"HTTP/1.1", fields=b"Host: h\r\n", rest=b""):
    return method + b" " + target + b" " + version + b"\r\n" + fields + b"\r\n" + rest


def with_field(field, method=b"GET", version=b"1.1", rest=b""):
    return head(method, version=b"HTTP/" + version, fields=b"Host: h\r\n" + field + b"\r\nA: b\r\n", rest=rest)


def request_lines():
    """Yields request lines with one fault each: a non-token byte in the method, a control byte in the target
    or version, or a malformed method, target or version."""
    for byte in NO_TOKEN:
        line_end = byte in (b"\r", b"\n")
        yield head(b"G" + byte + b"T"), "bad_request_line" if line_end else "bad_method"
        yield head(b"GET" + byte), "bad_request_line" if line_end else "bad_method"
        # A request that begins with the first byte of a TLS handshake is rejected for its own cause: TLS on a
        # plain HTTP listener.
        yield head(byte + b"GET"), {b"\r": "bad_request_line", b"\x16": "tls_to_plain_listener"}.get(byte, "bad_method")
    for byte in [b" ", *CONTROLS]:
        line_end = byte in (b"\r", b"\n")
        yield head(target=byte + b"http://h/"), "bad_target"
        for target in (b"http://h/a%sb", b"http://h%s/", b"http://h/?a%sb", b"ht%stp://h/", b"http://h/%s"):
            # A request line that ends after the target is a request of HTTP/0.9.
            verdict = "bad_request_line" if line_end else "bad_target"
            trailing = target.endswith(b"%s")
            if not (trailing and byte == b" "):
                yield head(target=target.replace(b"%s", byte)), verdict
        if byte != b" ":
            yield head(version=b"H" + byte + b"TTP/1.1"), "bad_request_line"
            yield head(version=b"HTTP/1" + byte + b"1"), "bad_request_line"
            yield head(version=b"HTTP/2" + byte + b"0"), "bad_request_line"
            yield head(version=b"HTTP/1.1" + byte), "bad_request_line"
    for version in OTHER_MAJORS:
        yield head(version=version), "bad_version"
    for version in BAD_VERSIONS + TRAILING_VERSIONS:
        yield head(version=version), "bad_request_line"
    for method in METHODS:
        yield method + b" http://h/\r\nHost: h\r\n\r\n", "bad_request_line"
        yield method + b"\r\nHost: h\r\n\r\n", "bad_request_line"
        yield method + b"  HTTP/1.1\r\nHost: h\r\n\r\n", "bad_target"
        yield head(method, target=b"http://h/#part"), "bad_target"
    for length in (33, 34, 64, 100, 1000):
        yield head(b"M" * length), "method_too_long"
    for count in range(5, 9):
        yield b"\r\n" * count + head(), "bad_request_line"


def targets():
    """Yields requests with a scheme, an authority or a target form that a forward listener does not serve."""
    for method in METHODS:
        for scheme in SCHEMES:
            yield head(method, scheme + b"://h/"), "bad_scheme"
        for target in (b"h/x", b"http:h", b"http:/h", b"http", b"://h/", b"h:80", b"?q", b"http//h/"):
            yield head(method, target), "bad_scheme"
        for target in (b"/", b"/x?y", b"//h/", b"*"):
            yield head(method, target), "not_a_proxy_request"
    for host in HOSTS:
        if not set(host) & set(b" /?#") and host:
            if host != PORTLESS:
                yield head(target=b"http://" + host + b"/"), "userinfo_in_authority" if b"@" in host else "bad_authority"
            yield head(b"CONNECT", host + b":443"), "userinfo_in_authority" if b"@" in host else "bad_authority"
    for target in (b"http://", b"http:///", b"http://?", b"http://:80/"):
        yield head(target=target), "bad_authority"
    for target in (b"h", b"h:", b"http://h:443/", b"/", b"*", b"h:443/x", b"h:443?x"):
        yield head(b"CONNECT", target), "bad_authority"
    for port in (b"1", b"22", b"25", b"81", b"3128", b"8081", b"65535"):
        yield head(b"CONNECT", b"h:" + port), "connect_port_denied"
    for fields in (CHUNKED, b"Content-Length: 1\r\n"):
        yield head(b"CONNECT", b"h:443", fields=b"Host: h\r\n" + fields), "connect_with_body"
        yield head(b"TRACE", fields=b"Host: h\r\n" + fields), "trace_with_body"


def field_lines():
    """Yields field sections with one fault each: a non-token byte in a field name, a control byte in a value, a
    folded line, or a field over a limit."""
    for byte in [b" ", *NO_TOKEN]:
        blank = byte in (b" ", b"\t")
        yield with_field(b"X" + byte + b"Y: 1"), "bad_field_name"
        yield with_field(b"X" + byte + b": 1"), "bad_field_name"
        yield with_field(byte + b"X: 1"), "obs_fold" if blank else "bad_field_name"
    for byte in NO_TAB:
        for value in (b"a%sb", b"%sa", b"a%s", b"%s"):
            yield with_field(b"X: " + value.replace(b"%s", byte)), "bad_field_value"
        yield head(fields=b"Host: h" + byte + b"\r\n"), "bad_field_value"
        yield with_field(b"Content-Length: 5" + byte, b"POST", rest=b"hello"), "bad_field_value"
        yield with_field(b"Transfer-Encoding: " + byte + b"chunked", b"POST", rest=b"0\r\n\r\n"), "bad_field_value"
    for line in (b": 1", b"X", b":", b"X 1", b" ", b"\t"):
        yield with_field(line), "obs_fold" if line in (b" ", b"\t") else "bad_field_name"
    for fold in (b"X: a\r\n b", b"X: a\r\n\tb", b"X:\r\n a", b"X: a\r\n b: c", b"Host: h\r\n x", b"Content-Length: 1\r\n 1"):
        yield with_field(fold), "obs_fold"
    for end in (b"\rX", b"\n", b"\r\r\n", b"\r\x00", b"\x00"):
        yield b"GET http://h/ HTTP/1.1\r\nHost: h\r\n" + end, "bad_field_name"
    for count in (256, 257, 400):
        yield head(fields=b"Host: h\r\n" + b"X: 1\r\n" * count), "too_many_fields"
    for length in (66_000, 70_000):
        yield with_field(b"X: " + b"a" * length), "header_too_large"
        yield head(target=b"http://h/" + b"a" * length), "target_too_long"
    for member in (b"a b", b"close; x", b"\"close\"", b"close:", b"(close)", b"a/b", b"\xe9"):
        yield with_field(b"Connection: " + member), "bad_field_value"


def framing():
    """Yields requests with a malformed Content-Length or Transfer-Encoding. Combines each malformed value
    with each method and each HTTP version."""
    for method in METHODS:
        for version in VERSIONS:
            for value in LENGTHS:
                yield with_field(b"Content-Length: " + value, method, version, b"hello"), "bad_content_length"
            for one, two in ((b"5", b"6"), (b"6", b"5"), (b"0", b"5"), (b"5", b"0"), (b"05", b"6")):
                both = b"Content-Length: %s\r\nContent-Length: %s" % (one, two)
                yield with_field(both, method, version, b"hello"), "conflicting_content_length"
            for value in TRANSFER_ENCODINGS + KNOWN_CODINGS + ([b"chunked"] if version == b"1.0" else []):
                verdict = "unsupported_transfer_encoding" if value in KNOWN_CODINGS else "bad_transfer_encoding"
                verdict = "chunked_in_http_1_0" if version == b"1.0" else verdict
                yield with_field(b"Transfer-Encoding: " + value, method, version, b"0\r\n\r\n"), verdict
            for value in (b"chunked", b"gzip", b"identity", b"x"):
                for both in ((b"Content-Length: 5", b"Transfer-Encoding: " + value), (b"Transfer-Encoding: " + value, b"Content-Length: 5")):
                    yield with_field(b"\r\n".join(both), method, version, b"5\r\nhello\r\n0\r\n\r\n"), "length_and_chunked"
    for name in (b"Content_Length", b"content_length", b"CONTENT_LENGTH", b"Content_length", b"Transfer_Encoding", b"transfer_encoding",
                 b"TRANSFER_ENCODING", b"Transfer_encoding"):
        for method in METHODS:
            yield with_field(name + b": 5", method), "lookalike_framing_field"


def meanings():
    """Yields requests with a bad Host, Expect or Max-Forwards field."""
    for method in METHODS:
        yield head(method, fields=b"A: b\r\n"), "missing_host"
        yield head(method, fields=b"Host: h\r\nHost: h\r\n"), "repeated_host"
        yield head(method, fields=b"Host: h\r\nHOST: i\r\n"), "repeated_host"
        yield head(method, fields=b"Hosts: h\r\n"), "missing_host"
    for host in HOSTS:
        if host != PORTLESS:
            for version in VERSIONS:
                yield head(version=b"HTTP/" + version, fields=b"Host: " + host + b"\r\n"), "bad_host"
    for value in (b"more", b"100", b"100-continue, more", b"100-continue;a", b"100-continue, 100-continue", b"\"100-continue\"", b"100 continue",
                  b"101-continue", b"100-continues", b"x=y", b"200-ok"):
        for method in METHODS:
            yield with_field(b"Expect: " + value, method), "bad_expect"
    yield with_field(b"Expect: 100-continue\r\nExpect: 100-continue"), "bad_field_value"
    for value in (b"", b"x", b"-1", b"+1", b"1.0", b"0x1", b"1 1", b"1,1", b"18446744073709551616", b"1\r\nMax-Forwards: 1", b"one", b"\xb9"):
        for method in (b"OPTIONS", b"TRACE"):
            yield with_field(b"Max-Forwards: " + value, method), "bad_max_forwards"


def bad_heads():
    """Yields (request, cause of its rejection). reprise rejects each request without dialling the
    upstream."""
    for part in (request_lines, targets, field_lines, framing, meanings):
        yield from part()


def bad_gateway_heads():
    """Yields (request, cause of its rejection) for a gateway listener: the requests of bad_heads() in
    origin-form, except those with a bad target, and requests with targets that only a gateway rejects."""
    for part in (field_lines, framing, meanings):
        for request, cause in part():
            if b" http://h/ " in request[:50]:
                yield request.replace(b" http://h/ ", b" /x ", 1), cause
    for target, cause in ((b"*", "bad_target"), (b"x", "bad_scheme"), (b"ftp://h/", "bad_scheme"), (b"http://", "bad_authority"),
                          (b"http://a,b/", "bad_authority"), (b"http://u@h/", "userinfo_in_authority"), (b"?x", "bad_scheme"),
                          (b"/x#part", "bad_target"), (b"/a b", "bad_target"), (b"", "bad_target")):
        for method in METHODS:
            if (method, target) != (b"OPTIONS", b"*"):
                yield head(method, target), cause
    for authority in (b"h:443", b"h:80", b"[::1]:443", b"h"):
        yield head(b"CONNECT", authority), "connect_to_gateway"
    for target in (b"http://h/", b"https://127.0.0.1/", b"http://[::1]/", b"http://h:80/x?q", b"ws://h/"):
        for method in METHODS:
            yield head(method, target), "misdirected_request"


def bad_bodies():
    """Yields (chunked body, cause of its rejection). Each body is sent after a valid head, so the fault shows
    only in the body. None of the bodies is complete and valid."""
    for byte in [b" ", *CONTROLS]:
        if byte != b"\r":
            yield b"5" + byte + b"x\r\nhello\r\n0\r\n\r\n", "bad_chunk"
        yield byte + b"5\r\nhello\r\n0\r\n\r\n", "bad_chunk"
        if byte != b"\n":
            yield b"5\r" + byte + b"hello\r\n0\r\n\r\n", "bad_chunk"
        yield b"5\r\nhello" + byte + b"\r\n0\r\n\r\n", "bad_chunk"
        if byte != b"\n":
            yield b"5\r\nhello\r" + byte + b"0\r\n\r\n", "bad_chunk"
        if byte not in (b" ", b"\t"):
            yield b"5;a" + byte + b"b\r\nhello\r\n0\r\n\r\n", "bad_chunk"
            yield b"5;a=\"" + byte + b"\"\r\nhello\r\n0\r\n\r\n", "bad_chunk"
            yield b"5\r\nhello\r\n0\r\nX: a" + byte + b"b\r\n\r\n", "bad_trailer"
        yield b"5\r\nhello\r\n0\r\nX" + byte + b"Y: b\r\n\r\n", "bad_trailer"
        yield b"5\r\nhello\r\n0\r\nX" + byte + b": b\r\n\r\n", "bad_trailer"
    for size in (b"", b"+5", b"-5", b"0x5", b"x", b"5x", b"g", b"5.", b"5,", b"\"5\"", b"10000000000000005", b"0" * 4097 + b"5", b"00010000000000000005", b"ffffffffffffffff5",
                 b"\xb5", b"5\xa0", b"five", b"5;", b"5;;", b"5;=", b"5;=b", b"5;a=", b"5;a=\"", b"5;a=\"b", b"5;a=b c", b"5;(", b"5;a=(", b"5 5",
                 b"5;a,b", b"5;a;", b"5;\"a\"", b"5;a=\"\\\"", b"5;" + b"e" * 4097):
        yield size + b"\r\nhello\r\n0\r\n\r\n", "bad_chunk"
        yield b"3\r\nabc\r\n" + size + b"\r\nhello\r\n0\r\n\r\n", "bad_chunk"
    for end in (b"hell\r\n", b"hello!\r\n", b"hello", b"hello\n", b"hello\r", b"helloX\n", b"hello\n\r", b"hello\r\r\n"):
        yield b"5\r\n" + end + b"0\r\n\r\n", "bad_chunk"
    for trailer in (b"X", b": 1", b"X : 1", b" X: 1", b"X: 1\n", b"\n", b"X(: 1", b"\xe9: 1", b"X: 1\r\nY", b"X: " + b"t" * 9000):
        yield b"5\r\nhello\r\n0\r\n" + trailer + b"\r\n\r\n", "bad_trailer"
    yield b"000000000000001\r\nx\r\n" * 1200 + b"0\r\n\r\n", "bad_chunk"
    yield (b"1;" + b"e" * 1000 + b"\r\nx\r\n") * 18 + b"0\r\n\r\n", "bad_chunk"


OK = b"HTTP/1.1 200 OK\r\n"


def bad_responses():
    """Yields malformed response heads, as a faulty upstream sends them. For each, reprise must send the
    client its own 502 response."""
    for byte in CONTROLS + HIGH + DELIMITERS:
        yield b"H" + byte + b"TP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        yield b"HTTP/1.1 2" + byte + b"0 OK\r\nContent-Length: 0\r\n\r\n"
        yield OK + b"X" + byte + b"Y: 1\r\nContent-Length: 0\r\n\r\n"
    for byte in NO_TAB:
        yield b"HTTP/1.1 200 O" + byte + b"K\r\nContent-Length: 0\r\n\r\n"
        yield OK + b"X: a" + byte + b"b\r\nContent-Length: 0\r\n\r\n"
        if byte != b"\n":
            yield OK + b"Content-Length: 0" + byte + b"\r\n\r\n"
    for line in (b"HTTP/1.1 099 L", b"HTTP/1.1 000 L", b"HTTP/1.1 1000 H", b"HTTP/1.1 20 L", b"HTTP/1.1 2 L",
                 b"HTTP/1.1 -200 L", b"HTTP/1.1 +200 L", b"HTTP/1.1 0x200 L", b"HTTP/1.1 OK", b"HTTP/1.1", b"HTTP/1.1 ", b"HTTP/1.1  200 OK",
                 b"HTTP/2.0 200 OK", b"HTTP/2 200", b"HTTP/1.10 200 OK", b"HTTP/0.9 200 OK", b"http/1.1 200 OK", b"ICY 200 OK", b"<html>", b"220 mail",
                 b"SSH-2.0-x", b" HTTP/1.1 200 OK", b"200 OK", b"\r\nHTTP/1.1 200 OK", b"HTTP/1.1200 OK", b"HTTP/1.1 200OK"):
        yield line + b"\r\nContent-Length: 0\r\n\r\n"
    for value in LENGTHS:
        if value not in (b"5,5", b"5, 5"):  # equal values of Content-Length count as one value (RFC 9112 6.3)
            yield OK + b"Content-Length: " + value + b"\r\n\r\nhello"
    for value in TRANSFER_ENCODINGS + KNOWN_CODINGS:
        if value not in IDENTITY:
            yield OK + b"Transfer-Encoding: " + value + b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    for field in (b" X: 1", b"\tX: 1", b": 1", b"X", b"Content-Length: 5\r\n ", b"Content-Length:\r\n 5", b"Transfer-Encoding:\n chunked",
                  b" \r\nX: a", b"X: a\n b\rc", b"X: a\n\rb", b"Content-Length: 5\r\nContent-Length: 6", b"Content-Length: 5, 6",
                  b"Content-Length : 5", b"Transfer-Encoding : chunked", b"Transfer-Encoding\t: chunked"):
        yield OK + field + b"\r\n\r\nhello"
    yield b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"


def broken_responses():
    """Yields malformed response bodies, each to be sent after a valid head. For each, the client's response
    must be cut and never look complete."""
    for body, cause in bad_bodies():
        # The lines of a chunked response body may end in LF alone.
        if body == b"5\r\nhello\n0\r\n\r\n":
            continue
        if cause == "bad_trailer" and body.endswith((b"X: 1\n\r\n\r\n", b"0\r\n\n\r\n\r\n")):
            continue
        yield OK + CHUNKED + b"\r\n" + body
    for body in (b"", b"5", b"5\r", b"5\r\n", b"5\r\nhel", b"5\r\nhello", b"5\r\nhello\r", b"5\r\nhello\r\n", b"5\r\nhello\r\n0", b"5\r\nhello\r\n0\r",
                 b"5\r\nhello\r\n0\r\n", b"5\r\nhello\r\n0\r\n\r", b"5\r\nhello\r\n0\r\nX: 1", b"5\r\nhello\r\n0\r\nX: 1\r\n"):
        yield OK + CHUNKED + b"\r\n" + body
    for length in (6, 100, 4294967296, 4294967301, 9223372036854775807):
        yield OK + b"Content-Length: %d\r\n\r\nhello" % length
