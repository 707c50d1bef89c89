"""TLS for the tests: a local CA that uses the openssl command, and TLS upstreams that use Python's ssl module."""
import contextlib
import datetime
import functools
import os
import socket
import ssl
import subprocess
import tempfile

from harness import LOOPBACK
from upstream import Upstream

HERE_AND_NOW = ("DNS:localhost", "DNS:api.test", f"IP:{LOOPBACK}")

CONFIGURATION = """
[ca]
default_ca = only
[only]
database = {folder}/index
new_certs_dir = {folder}
serial = {folder}/serial
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = dn
prompt = no
[dn]
CN = none
[v3_ca]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
"""


folders = []  # temporary folders, which are removed when the process ends


class Authority:
    """A certificate authority in its own folder."""

    def __init__(self, name="reprise test CA"):
        folders.append(tempfile.TemporaryDirectory(prefix="reprise-ca-"))
        self.folder = folders[-1].name
        self.file = self._path("ca.pem")
        self._made = 0
        with open(self._path("index"), "w", encoding="ascii"):
            pass
        with open(self._path("serial"), "w", encoding="ascii") as file:
            file.write("1000\n")
        with open(self._path("cnf"), "w", encoding="ascii") as file:
            file.write(CONFIGURATION.format(folder=self.folder))
        self._key("ca.key")
        self._openssl("req", "-new", "-x509", "-config", self._path("cnf"), "-extensions", "v3_ca", "-days", "30",
                      "-key", self._path("ca.key"), "-subj", f"/CN={name}", "-out", self.file)

    def _path(self, name):
        return os.path.join(self.folder, name)

    @staticmethod
    def _openssl(*arguments):
        done = subprocess.run(["openssl", *arguments], capture_output=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"openssl {arguments[0]}: {done.stderr.decode()}")

    def _ca(self, *arguments):
        self._openssl("ca", "-batch", "-config", self._path("cnf"), "-cert", self.file, "-keyfile", self._path("ca.key"), *arguments)

    def _key(self, name):
        self._openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", self._path(name))
        return self._path(name)

    def issue(self, common_name="somebody", names=HERE_AND_NOW, starts=-1, ends=10, usage="serverAuth"):
        """Issues a certificate. Returns its file and its key file. `names`: alternative names; none if empty.
        `starts` and `ends`: when the certificate becomes valid and when it expires, in days from now."""
        self._made += 1
        base = f"leaf{self._made}"
        key, request, extensions, certificate = self._key(base + ".key"), *(self._path(base + end) for end in (".csr", ".ext", ".pem"))
        self._openssl("req", "-new", "-config", self._path("cnf"), "-key", key, "-subj", f"/CN={common_name}", "-out", request)
        with open(extensions, "w", encoding="ascii") as file:
            file.write(f"extendedKeyUsage = {usage}\n")
            if names:
                file.write(f"subjectAltName = {','.join(names)}\n")
        now = datetime.datetime.now(datetime.timezone.utc)
        moments = [(now + datetime.timedelta(days=days)).strftime("%y%m%d%H%M%SZ") for days in (starts, ends)]
        self._ca("-startdate", moments[0], "-enddate", moments[1], "-extfile", extensions, "-in", request, "-out", certificate, "-notext")
        return certificate, key

    def revoke(self, certificate):
        self._ca("-revoke", certificate)

    def with_list(self, *dates):
        """Returns a file with the CA's certificate and its certificate revocation list. `dates`: options of `openssl
        ca` that set the dates of the list."""
        self._made += 1
        crl, both = self._path(f"list{self._made}.pem"), self._path(f"both{self._made}.pem")
        self._ca("-gencrl", *(dates or ("-crldays", "1")), "-out", crl)
        with open(both, "w", encoding="ascii") as out:
            for name in (self.file, crl):
                with open(name, encoding="ascii") as part:
                    out.write(part.read())
        return both

    def response(self, certificate, signer=None):
        """Returns a file with an OCSP response for a certificate. `signer`: the authority that signs the
        response, by default this CA."""
        signer = signer or self
        self._made += 1
        file = self._path(f"response{self._made}.der")
        self._openssl("ocsp", "-index", self._path("index"), "-CA", self.file, "-issuer", self.file, "-cert", certificate, "-ndays", "1",
                      "-rsigner", signer.file, "-rkey", signer._path("ca.key"), "-respout", file)  # pylint: disable=W0212
        return file

    def self_signed(self):
        """Returns a self-signed certificate with valid names, and its key."""
        self._made += 1
        key, certificate = self._key(f"self{self._made}.key"), self._path(f"self{self._made}.pem")
        self._openssl("req", "-new", "-x509", "-config", self._path("cnf"), "-days", "10", "-key", key, "-subj", "/CN=localhost",
                      "-addext", f"subjectAltName={','.join(HERE_AND_NOW)}", "-out", certificate)
        return certificate, key


@functools.cache
def authority():
    """Returns the CA that most cases trust."""
    return Authority()


@functools.cache
def good_certificate():
    return authority().issue()


def trusting(ca_file=None, **policy):
    """Returns `defaults` with which reprise sends every request over TLS and trusts `ca_file`, or the local
    CA if `ca_file` is not given."""
    return {"tls": {"originate": True, "ca_file": ca_file or authority().file}, **policy}


class TlsUpstream(Upstream):
    """An Upstream over TLS.

    `cuts`: how many handshakes, from the first one on, are cut by a FIN after the ClientHello. `alpn`:
    protocols that the server may choose. `notices`: whether the server ends each connection with a
    close_notify. `newest`: the newest TLS version that the server accepts. `asks_for`: file of the CA that
    must have issued the client's certificate. `sni` and `resumed` get one entry for each handshake."""

    def __init__(self, scripts=None, certificate=None, cuts=0, alpn=("http/1.1",), notices=True, newest=None, asks_for=None, **more):
        super().__init__(scripts, **more)
        self.cuts, self.notices = cuts, notices
        self.sni, self.resumed, self.certificates_shown, self.failures = [], [], [], []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*(certificate or good_certificate()))
        if alpn:
            self.context.set_alpn_protocols(list(alpn))
        if newest:
            self.context.maximum_version = newest
        if asks_for:
            self.context.verify_mode = ssl.CERT_REQUIRED
            self.context.load_verify_locations(asks_for)
        self.context.sni_callback = lambda _connection, name, _context: self.sni.append(name)

    def https_url(self, path="/"):
        return f"https://{self.address}:{self.port}{path}"

    def secure(self, connection):
        with self.lock:
            self.cuts -= 1
            cut = self.cuts >= 0
        if cut:
            connection.recv(1)
            connection.shutdown(socket.SHUT_RDWR)
            raise OSError("cut")
        try:
            wire = self.context.wrap_socket(connection, server_side=True)
        except OSError as error:
            self.failures.append(str(error))
            raise
        with self.lock:
            self.open.discard(connection)
            self.open.add(wire)
            self.resumed.append(wire.session_reused)
            self.certificates_shown.append(wire.getpeercert())
        return wire

    def part(self, wire):
        if self.notices and wire.fileno() >= 0:
            with contextlib.suppress(OSError, ValueError):
                wire.settimeout(1)
                wire.unwrap()


def end_of(connection):
    """Reads until the connection ends. Returns how it ended: `notice` (with close_notify), `fin` (without
    close_notify) or `reset`."""
    try:
        while connection.recv(65536):
            pass
        return "notice"
    except ssl.SSLEOFError:
        return "fin"
    except ConnectionResetError:
        return "reset"


@contextlib.contextmanager
def stapling(certificate, response, version):
    """Yields the port of a TLS server that staples an OCSP response and responds to every GET with 200. `version`:
    the option of `openssl s_server` that selects the TLS version."""
    command = ["openssl", "s_server", "-accept", f"{LOOPBACK}:0", "-cert", certificate[0], "-key", certificate[1],
               "-status_file", response, version, "-www"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            yield next(int(line.rsplit(":", 1)[1]) for line in server.stdout if line.startswith("ACCEPT"))
        finally:
            server.kill()
