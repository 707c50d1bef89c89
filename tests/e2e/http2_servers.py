"""Real HTTP/2 servers as upstreams: nghttpd and nginx, in clear text and over TLS."""
import contextlib
import os
import socket
import subprocess
import tempfile

from harness import LOOPBACK, eventually, needs
from server import bound
from tls import good_certificate

NGINX = """
daemon off;
master_process off;
user root;
pid {folder}/pid;
error_log {folder}/error crit;
events {{ worker_connections 512; }}
http {{
  access_log {folder}/access;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  client_max_body_size 100m;
  keepalive_requests {most};
  server {{
    listen {address}:{port} http2{tls};
    root {folder};
    location = /answer {{ return 200 "$request_method $http_x_id\\n"; }}
    location = /flaky {{ if ($http_reprise_attempt = 1) {{ return 503; }} return 200 "hello\\n"; }}
    location = /trailers {{ alias {folder}/content; add_trailer x-trailer 7; }}
    location /stored {{ dav_methods PUT; }}
  }}
}}
"""


def accepts(port):
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port)):
        return True


@contextlib.contextmanager
def running(command):
    """Runs a server until the block ends. `command` is a function that returns the command for a port. Yields the port,
    which another process cannot take before the server listens."""
    with bound() as held:
        port = held.getsockname()[1]
        with subprocess.Popen(command(port), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
            try:
                eventually(lambda: server.poll() is not None or accepts(port), f"{server.args[0]} listens")
                if server.poll() is not None:
                    raise AssertionError(f"{server.args[0]} ended: {server.stderr.read()}")
                yield port
            finally:
                server.kill()


@contextlib.contextmanager
def folder_with(content):
    """Yields a folder that has the file `content`, readable by all users."""
    with tempfile.TemporaryDirectory(prefix="reprise-http2-") as folder:
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "content"), "wb") as file:
            file.write(content)
        yield folder


@contextlib.contextmanager
def nghttpd(content=b"", over_tls=False, options=()):
    """Yields the URL of an nghttpd that serves `content` as /content, and responds to uploads with their body."""
    needs("nghttpd")
    certificate, key = good_certificate() if over_tls else (None, None)
    with folder_with(content) as folder:
        def command(port):
            tls = [str(port), key, certificate] if over_tls else ["--no-tls", str(port)]
            return ["nghttpd", "-a", LOOPBACK, "-d", folder, "--echo-upload", *options, *tls]
        with running(command) as port:
            yield f"https://localhost:{port}" if over_tls else f"http://{LOOPBACK}:{port}"


@contextlib.contextmanager
def nginx(content=b"", over_tls=False, most=1000):
    """Yields the URL and the folder of an nginx that serves `content` as /content. `most`: number of requests after which
    nginx closes a connection. The file `access` of the folder has one line for each request."""
    needs("nginx")
    with folder_with(content) as folder:
        def command(port):
            certificate, key = good_certificate()
            tls = f" ssl; ssl_certificate {certificate}; ssl_certificate_key {key}" if over_tls else ""
            with open(os.path.join(folder, "conf"), "w", encoding="ascii") as file:
                file.write(NGINX.format(folder=folder, address=LOOPBACK, port=port, tls=tls, most=most))
            return ["nginx", "-c", os.path.join(folder, "conf"), "-e", os.path.join(folder, "error")]
        with running(command) as port:
            yield f"https://localhost:{port}" if over_tls else f"http://{LOOPBACK}:{port}", folder
