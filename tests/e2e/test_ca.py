"""Tests `reprise ca init|show|renew`, the protection of its files, and which files are rejected."""
import os
import re
import stat
import subprocess
import tempfile

from harness import PATIENCE, NotPlayed, equal, needs_client, options
from test_intercept import HOST, Intercepting, handshake, ran
from tls import CONFIGURATION, TlsUpstream, authority

NOBODY = 65534


class Folder:
    """A configuration with interception, and a folder for its CA files."""

    def __init__(self, hosts="[localhost, \"*.api.test\"]"):
        self.folder = tempfile.TemporaryDirectory(prefix="reprise-ca-files-")
        self.config = self.path("reprise.yaml")
        self.list(hosts)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def list(self, hosts):
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("version: 1\nlisteners: [{bind: \"127.0.0.1:0\"}]\nadmin: {bind: \"127.0.0.1:0\"}\n"
                       f"intercept:\n  hosts: {hosts}\n"
                       f"  ca: {{certificate: {self.path('ca.pem')}, key: {self.path('ca.key')}}}\n  bundle: {self.path('bundle.pem')}\n")

    def ca(self, verb):
        return ran("ca", verb, "-c", self.config, environment={"SSL_CERT_FILE": authority().file, "SSL_CERT_DIR": "/nowhere"})

    def refused(self, *words):
        """Checks that the commands `check` and `run` both fail with exit code 78, and that their messages
        contain the given words."""
        for command in (["check", self.config], ["run", "-c", self.config]):
            code, _, err = ran(*command)
            equal(code, 78, (command, err))
            for word in words:
                assert word in err, (word, err)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()


def openssl(*arguments, given=None):
    done = subprocess.run(["openssl", *arguments], input=given, capture_output=True, timeout=PATIENCE, check=False)
    equal(done.returncode, 0, done.stderr.decode())
    return done.stdout.decode()


def test_ca_init_creates_a_constrained_ca_with_a_private_key_only_its_owner_can_read():
    with Folder() as files:
        code, out, err = files.ca("init")
        equal((code, err), (0, ""), out)
        assert re.search(r"^hosts +localhost, \*\.api\.test$", out, re.M), out
        assert re.search(r"^expires +20\d\d-", out, re.M) and re.search(r"^sha256 +([0-9A-F]{2}:){31}[0-9A-F]{2}$", out, re.M), out
        equal({name: stat.S_IMODE(os.stat(files.path(name)).st_mode) for name in ("ca.key", "ca.pem", "bundle.pem", "bundle.p12")},
              {"ca.key": 0o600, "ca.pem": 0o644, "bundle.pem": 0o644, "bundle.p12": 0o644})
        text = openssl("x509", "-in", files.path("ca.pem"), "-noout", "-text")
        assert "X509v3 Name Constraints: critical" in text, text
        permitted, excluded = re.search(r"Permitted:\n(.*?)\n +Excluded:\n(.*?)\n +Signature", text, re.S).groups()
        equal(permitted.split(), ["DNS:localhost", "DNS:.api.test"])
        equal(excluded.split(), ["IP:0.0.0.0/0.0.0.0", "IP:0:0:0:0:0:0:0:0/0:0:0:0:0:0:0:0"])
        assert "prime256v1" in text and "CA:TRUE, pathlen:0" in text, text
        equal(files.read("bundle.pem").count(b"BEGIN CERTIFICATE"), 2, "the one root of SSL_CERT_FILE, and its own")
        assert files.read("ca.pem") in files.read("bundle.pem")


def test_ca_init_never_replaces_a_key_and_ca_renew_keeps_the_key():
    with Folder() as files:
        equal(files.ca("init")[0], 0)
        key, certificate = files.read("ca.key"), files.read("ca.pem")
        code, _, err = files.ca("init")
        equal(code, 78)
        assert "intercept.ca.key" in err and "never replaced" in err, err
        equal((files.read("ca.key"), files.read("ca.pem")), (key, certificate))
        files.list("[other.test]")
        files.refused("intercept.hosts: other.test is not permitted", f"reprise ca renew -c {files.config}")
        code, out, err = files.ca("show")
        equal(code, 78, out)
        assert "other.test" in err and "localhost" in out, (out, err)
        code, out, _ = files.ca("renew")
        equal((code, "other.test" in out), (0, True), out)
        equal(files.read("ca.key"), key)
        assert files.read("ca.pem") != certificate and files.read("ca.pem") in files.read("bundle.pem")
        equal(files.ca("show")[0], 0)
        equal(ran("check", files.config)[0], 0)


def made_of_the_past(files, constraint):
    """Makes a CA certificate that has expired, for the existing CA key."""
    with open(files.path("past.cnf"), "w", encoding="ascii") as file:
        file.write(CONFIGURATION.format(folder=files.folder.name) + constraint + "\n")
    for name, content in (("index", ""), ("serial", "1000\n")):
        with open(files.path(name), "w", encoding="ascii") as file:
            file.write(content)
    config = ("-config", files.path("past.cnf"))
    openssl("req", "-new", *config, "-key", files.path("ca.key"), "-subj", "/CN=x", "-out", files.path("past.csr"))
    openssl("ca", "-selfsign", "-batch", "-notext", *config, "-keyfile", files.path("ca.key"), "-extensions", "v3_ca", "-startdate",
            "200101000000Z", "-enddate", "210101000000Z", "-in", files.path("past.csr"), "-out", files.path("ca.pem"))


def test_ca_files_that_are_missing_or_broken_or_mismatched_or_readable_by_others_are_rejected():
    with Folder() as files:
        files.refused("intercept.ca.certificate", "reprise ca init -c")
        equal(files.ca("init")[0], 0)
        os.chmod(files.path("ca.key"), 0o640)
        files.refused("intercept.ca.key", "can be read by other users", "chmod 600")
        os.chmod(files.path("ca.key"), 0o600)
        equal(ran("check", files.config)[0], 0)
        with Folder() as others:
            equal(others.ca("init")[0], 0)
            own = files.read("ca.key")
            with open(files.path("ca.key"), "wb") as file:
                file.write(others.read("ca.key"))
            files.refused("intercept.ca.key", "does not match the certificate", "reprise ca renew -c")
            with open(files.path("ca.key"), "wb") as file:
                file.write(own)
        made = ["req", "-new", "-x509", "-key", files.path("ca.key"), "-subj", "/CN=x", "-out", files.path("ca.pem")]
        constraint = "nameConstraints=critical,permitted;DNS:localhost,permitted;DNS:.api.test"
        excluded = ",excluded;IP:0.0.0.0/0.0.0.0,excluded;IP:::/::"
        for arguments, words in (
                (["-days", "30"], "has no critical nameConstraints"),
                (["-days", "30", "-addext", constraint], "does not exclude IP addresses"),
                (["-days", "30", "-addext", constraint.replace("critical,", "") + excluded], "has no critical nameConstraints")):
            openssl(*made, *arguments)
            files.refused("intercept.ca.certificate", words, "reprise ca renew -c")
        made_of_the_past(files, constraint + excluded)
        files.refused("intercept.ca.certificate", "has expired", "reprise ca renew -c")
        openssl(*made, "-days", "30", "-addext", constraint + excluded)
        equal(ran("check", files.config)[0], 0, "one that was made elsewhere will do")
        with open(files.path("ca.key"), "wb") as file:
            file.write(b"no key\n")
        files.refused("intercept.ca.key", "cannot be used")


def test_invalid_intercept_hosts_are_rejected():
    for hosts, words in (("[127.0.0.1]", "is an address"), ("[\"[::1]\"]", "is an address"), ("[0x7f.1]", "is an address"),
                         ("[\"*\"]", "every host"), ("[\"*.com\"]", "top-level domain"), ("[]", "has no host")):
        with Folder(hosts) as files:
            files.refused("intercept.hosts", words)


def test_leaf_certificates_pass_strict_verification_and_are_short_lived_and_name_one_host():
    with TlsUpstream() as upstream, Intercepting() as reprise:
        shown = subprocess.run(["openssl", "s_client", "-connect", f"{HOST}:{upstream.port}", "-proxy", "%s:%d" % reprise.forward, "-showcerts",
                                "-servername", HOST], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        leaf = shown.stdout[shown.stdout.index("-----BEGIN"):shown.stdout.index("-----END") + 26].encode()
        out = openssl("verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", HOST, "-CAfile", f"{reprise.own.name}/ca.pem", given=leaf)
        assert out.endswith(": OK\n"), out
        text = openssl("x509", "-noout", "-text", "-ext", "subjectAltName", given=leaf)
        equal(re.findall(r"DNS:\S+", text), [f"DNS:{HOST}"] * len(re.findall(r"DNS:\S+", text)))
        openssl("x509", "-noout", "-checkend", "0", given=leaf)
        late = subprocess.run(["openssl", "x509", "-noout", "-checkend", str(31 * 86400)], input=leaf, capture_output=True, check=False)
        equal(late.returncode, 1, "no leaf lives for a month")
        with handshake(reprise, upstream.port, reprise.bundle, HOST) as again:
            serial = again.getpeercert()["serialNumber"]
        with handshake(reprise, upstream.port, reprise.bundle, HOST) as again:
            equal(again.getpeercert()["serialNumber"], serial, "one is kept")


def test_java_reads_the_truststore():
    needs_client("keytool")
    with Folder() as files:
        equal(files.ca("init")[0], 0)
        done = subprocess.run(["keytool", "-list", "-keystore", files.path("bundle.p12"), "-storepass", "changeit", "-storetype", "PKCS12"],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        equal(done.stdout.count("trustedCertEntry"), 2, done.stdout + done.stderr)
        done = subprocess.run(["openssl", "pkcs12", "-in", files.path("bundle.p12"), "-passin", "pass:changeit", "-nokeys"],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        equal(done.stdout.count("BEGIN CERTIFICATE"), 2, done.stderr)


def test_startup_rewrites_a_missing_ca_bundle_and_fails_if_it_cannot_be_written():
    with TlsUpstream() as upstream, Intercepting() as reprise:
        os.unlink(reprise.bundle)
        reprise.terminate()
        equal(reprise.wait(), 0)
        reprise.__enter__()
        with handshake(reprise, upstream.port, reprise.bundle, HOST):
            pass
    with Folder() as files:
        equal(files.ca("init")[0], 0)
        os.unlink(files.path("bundle.pem"))
        os.mkdir(files.path("bundle.pem"))
        code, _, err = ran("run", "-c", files.config)
        equal(code, 78, err)
        assert "intercept.bundle" in err, err


def secrets_of(key_file):
    """Returns the private scalar of a P-256 key."""
    text = openssl("pkey", "-in", key_file, "-noout", "-text")
    digits = re.search(r"priv:\n(.*?)pub:", text, re.S).group(1)
    return bytes.fromhex("".join(digits.split()).replace(":", ""))[-32:]


def mappings(pid):
    """Yields (range, flags) of each memory mapping of the process."""
    with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as file:
        found = None
        for line in file:
            head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line)
            if head:
                found = int(head.group(1), 16), int(head.group(2), 16), head.group(3)
            elif line.startswith("VmFlags:") and found:
                yield *found, line.split()[1:]


def test_private_keys_are_excluded_from_core_dumps():
    """Every memory page in which the CA key is found must be excluded from core dumps."""
    with TlsUpstream() as upstream, Intercepting() as reprise:
        for name in (HOST, HOST):
            with handshake(reprise, upstream.port, reprise.bundle, name):
                pass
        secret = secrets_of(f"{reprise.own.name}/ca.key")
        numbers = {secret, secret[::-1]}  # the key in the byte order of PEM and DER, and in that of OpenSSL's arithmetic
        try:
            memory = open(f"/proc/{reprise.process.pid}/mem", "rb")  # pylint: disable=consider-using-with
        except PermissionError as error:
            raise NotPlayed("namespaces", "this machine lets nobody look into a process") from error
        hidden = shown = 0
        with memory:
            for start, end, rights, flags in mappings(reprise.process.pid):
                shadow = end - start > 1 << 32  # shadow memory of a sanitizer: unused, and terabytes in size
                if "r" not in rights or end > 1 << 47 or shadow:
                    continue
                try:
                    memory.seek(start)
                    content = memory.read(end - start)
                except OSError:
                    continue
                found = any(number in content for number in numbers)
                hidden += found and "dd" in flags
                shown += found and "dd" not in flags
        equal((shown, hidden >= 1), (0, True), "places of the key: dumped, and not dumped")
        assert secret.hex() not in reprise.text() and "PRIVATE KEY" not in reprise.text()
        equal("PRIVATE" in reprise.admin("/status")[1], False)


def test_env_prints_variables_that_make_clients_trust_the_ca():
    with Folder() as files:
        with open(files.config, "r+", encoding="utf-8") as file:
            text = file.read().replace('"127.0.0.1:0"}]', '"127.0.0.1:3999"}]')
            file.seek(0)
            file.write(text)
        code, out, err = ran("env", "--format", "dotenv", "-c", files.config)
        equal(code, 0, err)
        for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT",
                     "AWS_CA_BUNDLE", "CARGO_HTTP_CAINFO", "HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
                     "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "DENO_CERT", "NIX_SSL_CERT_FILE", "BUNDLE_SSL_CA_CERT", "COMPOSER_CAFILE",
                     "NPM_CONFIG_CAFILE"):
            assert f'{name}="{files.path("bundle.pem")}"' in out, out
        assert f"-Djavax.net.ssl.trustStore={files.path('bundle.p12')} " in out and "trustStorePassword=changeit" in out, out
    equal("REQUESTS_CA_BUNDLE" in ran("exec", "--quiet", "--", "env")[1], False, "not where nothing is intercepted")


def test_ca_key_created_by_root_belongs_to_the_folder_owner():
    """The service runs as the folder's owner and must be able to read the key. If the key belongs to root,
    `reprise run` fails when the owner of the folder starts it. The error message has the command that gives
    the key to the owner. `reprise check`, run by root, has a warning with the same command."""
    with Folder() as files:
        try:
            os.chown(files.folder.name, NOBODY, NOBODY)
        except OSError as why:
            raise NotPlayed("kernel", "there are no other users here") from why
        code, out, err = files.ca("init")
        equal((code, err), (0, ""))
        owner = re.search(r"^owner +(\S+)$", out, re.M)[1]
        equal(os.stat(files.path("ca.key")).st_uid, NOBODY, out)
        equal(ran("check", files.config)[2], "")
        os.chown(files.path("ca.key"), 0, 0)
        command = f"chown {owner} {files.path('ca.key')}"
        for asked in (["check", files.config], ["ca", "show", "-c", files.config]):
            code, _, err = ran(*asked)
            equal(code, 0, err)
            assert "warning: " in err and f"run {command}" in err, (asked, err)
        done = subprocess.run([options.binary, "run", "-c", files.config], capture_output=True, text=True, timeout=PATIENCE, user=NOBODY, group=NOBODY,
                              extra_groups=[], check=False)
        equal(done.returncode, 78, done.stderr)
        assert f"the file belongs to root, and reprise runs as {owner}: run {command}" in done.stderr, done.stderr


def test_ca_folders_created_under_a_strict_umask_stay_accessible_to_applications():
    with Folder() as files:
        with open(files.config, encoding="utf-8") as file:
            text = file.read().replace(f"{files.folder.name}/", f"{files.folder.name}/new/trust/")
        with open(files.config, "w", encoding="utf-8") as file:
            file.write(text)
        before = os.umask(0o077)
        try:
            equal(files.ca("init")[0], 0)
        finally:
            os.umask(before)
        equal({name: stat.S_IMODE(os.stat(files.path(name)).st_mode) for name in ("new", "new/trust", "new/trust/ca.key", "new/trust/bundle.pem")},
              {"new": 0o755, "new/trust": 0o755, "new/trust/ca.key": 0o600, "new/trust/bundle.pem": 0o644})
