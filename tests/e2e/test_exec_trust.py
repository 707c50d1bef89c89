"""Tests certificate authorities under `reprise exec`: the caller's authorities stay trusted, both by the command and
for connections to upstreams. Includes PHP and Java."""
import os
import shutil
import subprocess
import tempfile

from harness import LOOPBACK, PATIENCE, equal, needs_client
from parent import Parent, TlsParent
from test_intercept import HOST, SUMMARY, clean, ran
from tls import Authority, TlsUpstream, authority
from upstream import Upstream

ALONE = True  # one case at a time: clients start slowly, and must send within 200 ms after their CONNECT
VARIABLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT", "AWS_CA_BUNDLE",
             "CARGO_HTTP_CAINFO", "HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "DENO_CERT",
             "NIX_SSL_CERT_FILE", "BUNDLE_SSL_CA_CERT", "COMPOSER_CAFILE", "NPM_CONFIG_CAFILE", "PERL_LWP_SSL_CA_FILE")
PHP = """
$proxy = str_replace('http://', 'tcp://', getenv('https_proxy'));
echo file_get_contents($argv[1], false, stream_context_create(['http' => ['proxy' => $proxy]]));
"""


def certificate_in(file):
    """Returns the text of the first certificate of a PEM file."""
    with open(file, encoding="ascii") as opened:
        text = opened.read()
    return text[text.index("-----BEGIN CERTIFICATE-----"):text.index("-----END CERTIFICATE-----")]


def intercepted(upstream, *options_of_exec, script=None, **environment):
    """Runs a curl under exec, which intercepts its HTTPS. Returns (exit code, standard output, standard error)."""
    command = ("sh", "-c", script) if script else ("curl", "-sS", upstream.https_url("/x").replace(upstream.address, HOST))
    return ran("exec", "--intercept", HOST, *options_of_exec, "--", *command, environment=environment)


def test_exec_verifies_upstreams_against_the_callers_certificate_authorities():
    for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
        with TlsUpstream({"/x": [503, 503, 200]}) as upstream:
            equal(intercepted(upstream, **{name: authority().file}), (0, "answer 3 to /x\n", SUMMARY), name)
    with TlsUpstream() as upstream:
        code, out, err = intercepted(upstream)
        assert "unable to get local issuer certificate" in out, out
        equal((code, err.startswith("reprise: 1 requests, 0 retried, 0 recovered")), (0, True), "no variable vouches for it")


def test_exec_bundle_contains_the_certificates_of_all_ca_variables():
    own = {name: Authority(f"CA of {name}") for name in VARIABLES}
    environment = {name: one.file for name, one in own.items()}
    with tempfile.TemporaryDirectory() as folder, TlsUpstream(certificate=own["DENO_CERT"].issue(names=(f"DNS:{HOST}",))) as upstream:
        # REQUESTS_CA_BUNDLE may also name a folder with hashed file names, as OpenSSL reads it.
        shutil.copy(own["REQUESTS_CA_BUNDLE"].file, f"{folder}/ca.pem")
        subprocess.run(["openssl", "rehash", folder], check=True, timeout=PATIENCE, capture_output=True)
        environment["REQUESTS_CA_BUNDLE"] = folder
        environment["PIP_CERT"] = environment["NODE_EXTRA_CA_CERTS"]
        del own["PIP_CERT"]
        files = " ".join(f'"${name}"' for name in VARIABLES)
        code, out, err = intercepted(upstream, script=f'printf "%s," {files}; cat "$GIT_SSL_CAINFO"; exec curl -sS https://{HOST}:{upstream.port}/',
                                     **environment)
        equal((code, out.endswith("answer 1 to /\n")), (0, True), err)
        equal(len(set(out.split(",", len(VARIABLES))[:len(VARIABLES)])), 1, "all name one bundle")
        equal({name: out.count(certificate_in(one.file)) for name, one in own.items()}, dict.fromkeys(own, 1), "each once")


def test_exec_without_interception_keeps_ca_variables_and_verifies_upstreams():
    with TlsUpstream({"/x": [503, 200]}) as upstream, tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("version: 1\ndefaults: {tls: originate}\n")
        file.flush()
        script = f'printf "%s " "$REQUESTS_CA_BUNDLE" "${{SSL_CERT_FILE-unset}}" "${{CURL_CA_BUNDLE-unset}}"; curl -sS http://{HOST}:{upstream.port}/x'
        code, out, err = ran("exec", "-c", file.name, "--", "sh", "-c", script, environment={"REQUESTS_CA_BUNDLE": authority().file})
        equal((code, out, err), (0, f"{authority().file} unset unset answer 2 to /x\n", SUMMARY))


def test_exec_verifies_a_tls_parent_against_the_callers_certificate_authorities():
    own = Authority("proxy CA")
    with Upstream() as upstream, TlsParent(own.issue(names=(f"DNS:{HOST}",)), names={"up.test": (LOOPBACK, upstream.port)}) as parent:
        for trusted, wanted in ((own, "answer 1 to /x\n"), (authority(), "the parent proxy")):
            _, out, err = ran("exec", "--", "curl", "-s", "http://up.test/x",
                              environment={"http_proxy": parent.proxy_url(), "AWS_CA_BUNDLE": trusted.file})
            assert wanted in out and f"through the parent proxy {parent.proxy_url()}" in err, out + err


def test_first_exec_request_works_behind_a_corporate_proxy_with_its_own_ca():
    """Imitates a company network. The company's proxy needs a password, and only this proxy can resolve the
    name of the upstream. The certificate of the upstream is signed by the company's CA."""
    own = Authority("company CA")
    with TlsUpstream({"/x": [503, 503, 200]}, certificate=own.issue(names=("DNS:api.test",))) as upstream, \
            Parent({"api.test": (LOOPBACK, upstream.port)}, login=("joe", "5ecret")) as parent:
        proxy = parent.proxy_url("joe:5ecret@")
        environment = {"http_proxy": proxy, "https_proxy": proxy, "no_proxy": "localhost,.company.test", "REQUESTS_CA_BUNDLE": own.file}
        code, out, err = ran("exec", "--intercept", "api.test", "--", "curl", "-sS", "https://api.test/x", environment=environment)
        equal((code, out), (0, "answer 3 to /x\n"), err)
        equal(err, SUMMARY.replace("\n", f" (through the parent proxy http://joe:***@{LOOPBACK}:{parent.port})\n"))
        equal(set(parent.asked("CONNECT")), {"api.test:443"})
        # Without interception, the TLS connection of the command passes unchanged through both proxies.
        code, out, err = ran("exec", "--", "curl", "-sS", "--cacert", own.file, "https://api.test/x", environment=environment)
        equal((code, out), (0, "answer 4 to /x\n"), err)


def test_unreadable_ca_file_is_logged_as_a_warning():
    with tempfile.TemporaryDirectory() as folder, TlsUpstream() as upstream:
        with open(f"{folder}/empty.pem", "w", encoding="ascii"):
            pass
        environment = {"SSL_CERT_FILE": authority().file, "PIP_CERT": "/nowhere/ca.pem", "AWS_CA_BUNDLE": f"{folder}/empty.pem", "DENO_CERT": folder}
        code, out, err = intercepted(upstream, "--log", f"{folder}/log", "--quiet", **environment)
        equal((code, out, err), (0, "answer 1 to /x\n", ""))
        with open(f"{folder}/log", encoding="utf-8") as file:
            text = file.read()
        for name in ("PIP_CERT", "AWS_CA_BUNDLE", "DENO_CERT"):
            assert f"{name} names {environment[name]}, which has no readable certificate: no certificate is added to the trusted ones" in text, text
        equal("SSL_CERT_FILE names" in text, False)


def test_exec_makes_php_trust_the_bundle_through_the_variable_php_ini_scan_dir():
    needs_client("php")
    with TlsUpstream({"/x": [503, 503, 200]}) as upstream:
        url = f"https://{HOST}:{upstream.port}/x"
        got = ran("exec", "--intercept", HOST, "--", "php", "-r", PHP, url, environment={"SSL_CERT_FILE": authority().file})
        equal(got, (0, "answer 3 to /x\n", SUMMARY))
        for before in (None, "", "/etc/php/more"):
            environment = {"SSL_CERT_FILE": authority().file, **({} if before is None else {"PHP_INI_SCAN_DIR": before})}
            out = ran("exec", "--quiet", "--intercept", HOST, "--", "sh", "-c",
                      'echo "$PHP_INI_SCAN_DIR"; cat "${PHP_INI_SCAN_DIR##*:}/reprise.ini"; echo "$SSL_CERT_FILE"', environment=environment)[1]
            folders, *ini, bundle = out.splitlines()
            equal(folders, f"{before or ''}:{os.path.dirname(bundle)}/php")
            equal(ini, [f'curl.cainfo="{bundle}"', f'openssl.cafile="{bundle}"'])
    equal("PHP_INI_SCAN_DIR" in ran("exec", "--quiet", "--", "env")[1], False, "not where nothing is intercepted")


def test_exec_with_the_option_no_java_leaves_java_tool_options_unchanged():
    for options_of_exec in ((), ("--intercept", HOST)):
        for before in (None, "", "-Xmx1g"):
            environment = {} if before is None else {"JAVA_TOOL_OPTIONS": before}
            out = ran("exec", "--quiet", "--no-java", *options_of_exec, "--", "sh", "-c", 'echo "${JAVA_TOOL_OPTIONS-absent}"', environment=environment)[1]
            equal(out, ("absent" if before is None else before) + "\n")


def test_jdk_prints_a_notice_unless_exec_has_the_option_no_java():
    needs_client("java")
    equal("Picked up JAVA_TOOL_OPTIONS: -Dhttp.proxyHost=" in ran("exec", "--quiet", "--", "java", "-version")[2], True)
    equal("Picked up" in ran("exec", "--quiet", "--no-java", "--", "java", "-version")[2], False)
