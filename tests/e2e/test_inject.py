"""Tests `reprise inject` on files, on standard input, and on input that is not a manifest."""
import subprocess
import tempfile
from pathlib import Path

from harness import equal, options

CORPUS = Path(__file__).resolve().parent.parent / "inject" / "corpus"
GOLDEN = Path(__file__).resolve().parent.parent / "inject" / "golden"


NEEDS_CONFIG_MAP = (" note: the pods wait in Init:0/1 until their namespace has a ConfigMap reprise with the key reprise.yaml; "
                    "--config FILE puts the configuration into the pods instead\n")
POD = b"kind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n"


def inject(*arguments, given=None, **more):
    """Runs `reprise inject`. Returns (exit code, standard output, standard error)."""
    done = subprocess.run([options.binary, "inject", *arguments], input=given, capture_output=True, timeout=120, check=False, **more)
    return done.returncode, done.stdout, done.stderr.decode()


def test_inject_produces_the_same_output_from_a_file_and_standard_input():
    wanted = (GOLDEN / "workloads.injected.yaml").read_bytes()
    code, out, err = inject("-f", str(GOLDEN / "workloads.yaml"))
    equal((code, out), (0, wanted))
    equal(err.replace(f"{GOLDEN}/workloads.yaml:", ""), "36:15: warning: document 2: HTTPS_PROXY comes from valueFrom and is left unchanged\n"
          + NEEDS_CONFIG_MAP + " note: left unchanged, because they do not run pods: 1 ConfigMap, 1 Service\n")
    code, out, err = inject("-f", "-", given=(GOLDEN / "workloads.yaml").read_bytes())
    equal((code, out), (0, wanted))
    assert err.startswith("-:36:15: warning: document 2: "), err
    code, out, err = inject(str(GOLDEN / "workloads.injected.yaml"))
    equal((code, out), (0, wanted))
    equal([line.partition(": note: ")[2] for line in err.splitlines()],
          [f"document {number}: left unchanged: it already has reprise" for number in (2, 3, 4)]
          + ["left unchanged, because they do not run pods: 1 ConfigMap, 1 Service"])


def test_inject_remove_restores_every_manifest_of_the_test_corpus():
    """Runs without an API server. tests/cluster has the same test with a real API server."""
    files = sorted(CORPUS.iterdir())
    assert len(files) > 20, files
    for file in files:
        before = file.read_bytes()
        for arguments in ((), ("--label", "--scrape", "--pull-secret", "keys", "--limits", "cpu=1", "--image", "r/x:2")):
            code, once, err = inject("-f", "-", *arguments, given=before)
            equal(code, 0, f"{file.name}: {err}")
            equal(inject("-f", "-", *arguments, given=once)[:2], (0, once), f"{file.name}: twice is once")
            equal(inject("--remove", "-f", "-", given=once)[:2], (0, before), f"{file.name}: the way back")


def test_inject_remove_restores_the_original_manifest():
    before = (GOLDEN / "workloads.yaml").read_bytes()
    equal(inject("--remove", "-f", str(GOLDEN / "workloads.injected.yaml")), (0, before, ""))
    equal(inject("--remove", "-f", "-", given=(GOLDEN / "workloads.injected.yaml").read_bytes()), (0, before, ""))
    note = "-: note: no pod has a sidecar that `reprise inject` added: nothing was changed\n"
    equal(inject("--remove", "-f", "-", given=before), (0, before, note))
    foreign = b"kind: Pod\nspec:\n  containers:\n  - name: reprise\n    image: somebody/else\n"
    code, out, err = inject("--remove", "-f", "-", given=foreign)
    equal((code, out), (0, foreign))
    assert err.startswith("-:3:3: warning: document 1: left unchanged: the container reprise was not added by") and err.endswith(note), err
    for broken in (b"a: [\n", b"kind: Deployment\n", "kind: Pod\n".encode("utf-16")):
        equal(inject("--remove", "-f", "-", given=broken), inject("-f", "-", given=broken), "errors are those of inject")
    code, _, err = inject("--remove", "--image", "x", "-f", "-", given=before)
    equal(code, 2, err)


def test_inject_uses_the_given_image_and_config_map():
    code, out, err = inject("-f", "-", "--image", 'registry/reprise@sha256:0"1', "--config-map", "shop-proxy", given=POD)
    equal((code, err), (0, ""), "a ConfigMap that is named is known to its author")
    assert b'image: "registry/reprise@sha256:0\\"1"\n' in out and b'configMap: {name: "shop-proxy"}\n' in out, out


def test_inject_passes_non_workloads_byte_for_byte():
    for text in (b"", b"# words\n", b"---\n\n---\n", b"apiVersion: v1\r\nkind: Service\r\nspec: {a: &b 1, c: *b, d: 0o644}   # x\r\n",
                 b"\xef\xbb\xbfkind: Secret\nstringData: {a: '{{ x }}'}", b"kind: Widget\nspec:\n  containers: [{name: a}]\n  a: 1\n  a: 2\n"):
        code, out, err = inject("-f", "-", given=text)
        equal((code, out), (0, text))
        equal(err, "-: note: the file has no workload: nothing was changed\n")


def test_inject_prints_nothing_if_one_document_is_wrong():
    good = b"kind: Pod\nspec: {containers: [{name: a}]}\n---\n"
    for text, told in ((b"a: [\n", ":5:1: error: document 2: not YAML: "), (b"words\n", ":4:1: error: document 2: not a Kubernetes object"),
                       (b"kind: Deployment\n", ":4:1: error: document 2: Deployment: spec.template.spec.containers is missing or empty"),
                       (b"kind: Pod\nspec:\n\tcontainers:\n", ":6:1: error: document 2: not YAML: this line is indented with a tab"),
                       (b"kind: Pod\nspec:\n  containers:\n  - name: {{ .Values.name }}\n", "(is this a template? render it first)"),
                       (bytes(range(256)) * 40, "error: document 1: not UTF-8 text"),
                       ("kind: Pod\n".encode("utf-16"), "not UTF-8 text")):
        code, out, err = inject("-f", "-", given=good + text)
        equal((code, out), (1, b""), text)
        assert told in err and err.count("\n") == 1 and "-:" in err, err


def test_inject_reports_an_unreadable_file():
    with tempfile.TemporaryDirectory() as folder:
        for path, why in ((folder, "Is a directory"), (folder + "/none.yaml", "No such file or directory")):
            equal(inject("-f", path), (1, b"", f"reprise inject: cannot read {path}: {why}; name a manifest, or - for standard input\n"))
    code, out, err = inject()
    equal((code, out), (2, b""))
    assert "--file" in err or "file is missing" in err, err


def test_inject_fails_if_output_cannot_be_written():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([options.binary, "inject", "-f", str(GOLDEN / "workloads.yaml")], stdout=full, stderr=subprocess.PIPE,
                              timeout=60, check=False)
    equal(done.returncode, 1)
    assert b"cannot write: No space left on device" in done.stderr, done.stderr


def test_inject_handles_a_large_file_and_rejects_a_file_over_64_mib():
    one = b"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: a\n    image: x\n---\n"
    count = 2000
    code, out, err = inject("-f", "-", given=one * count)
    equal((code, err, out.count(b"- name: reprise\n")), (0, "-:" + NEEDS_CONFIG_MAP, count))
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(64 * 1024 * 1024 + 1)
        equal(inject("-f", file.name), (1, b"", f"reprise inject: cannot read {file.name}: the file is larger than 64 MiB; name a manifest, or - for standard input\n"))


def test_inject_embeds_a_valid_configuration_and_warns_if_the_sidecar_cannot_use_it():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reprise.yaml"

        def with_config(text):
            file.write_text(text, encoding="utf-8")
            return inject("-f", "-", "--config", str(file), given=POD)

        good = "version: 1\nlisteners: [{mode: forward, bind: 127.0.0.1:3128}]\nadmin: {bind: 0.0.0.0:3129, allow_remote: true}\n"
        code, out, err = with_config(good)
        equal((code, err), (0, ""))
        assert b"    reprise.dev/config: |\n      version: 1\n" in out or b'"reprise.dev/config": ' in out, out
        assert b"metadata.annotations['reprise.dev/config']" in out and b"configMap" not in out, out
        equal(inject("--remove", "-f", "-", given=out)[:2], (0, POD))
        code, out, err = with_config("version: 1\nlisteners: [{mode: forward, bind: 127.0.0.1:3130}]\n")
        equal(code, 0)
        assert "has no forward listener on that port" in err and "the probes connect to port 3129" in err, err
        code, out, err = with_config("version: 1\ndefaults: {retry: {deadlin: 1s}}\n")
        equal((code, out), (78, b""))
        assert "reprise.yaml:2:" in err and "deadline" in err, err
        file.write_text("#" * (200 * 1024 + 1), encoding="utf-8")
        code, out, err = inject("-f", "-", "--config", str(file), given=POD)
        equal((code, out), (1, b""))
        assert "larger than 200 KiB" in err and "ConfigMap" in err, err
        code, _, err = inject("-f", "-", "--config", str(file), "--config-map", "x", given=POD)
        equal(code, 2, err)


def test_inject_applies_sidecar_options_or_reports_their_mistake():
    code, out, err = inject("-f", "-", "--requests", "cpu=50m,memory=64Mi", "--limits", "cpu=1", "--image-pull-policy", "Always", "--pull-secret", "keys",
                            "--run-as-user", "none", "--label", "--scrape", "--config-map", "c", given=POD)
    equal((code, err), (0, ""))
    for line in (b"requests: {cpu: 50m, memory: 64Mi}\n", b'limits: {cpu: "1", memory: 192Mi}\n', b"imagePullPolicy: Always\n", b'- name: "keys"\n'):
        assert line in out, (line, out)
    for text in (b'reprise.dev/inject": "true"', b'prometheus.io/port": "3129"'):
        assert text in out, (text, out)
    assert b"runAsUser" not in out, out
    equal(inject("-f", "-", given=out)[1], out, "what it was told stays")
    equal(inject("--remove", "-f", "-", given=out)[:2], (0, POD))
    for option, value, told in (("--requests", "gpu=1", "cpu, memory or ephemeral-storage"), ("--limits", "cpu=much", "'much' is not a Kubernetes quantity"),
                                ("--run-as-user", "0", "0 is root"), ("--image-pull-policy", "Daily", "write Always, IfNotPresent or Never")):
        code, out, err = inject("-f", "-", option, value, given=POD)
        equal((code, out), (2, b""))
        assert option in err and told in err, err
    code, out, err = inject("-f", "-", "--requests", "memory=1Gi", given=POD)
    equal((code, out), (1, b""))
    assert "would request memory=1Gi, which is more than its limit of 192Mi" in err, err


def test_inject_reports_the_documents_that_it_leaves_unchanged():
    given = (b"kind: Service\n---\nkind: Pod\nspec: {hostNetwork: true, containers: [{name: a}]}\n---\nkind: Service\n---\n"
             b"kind: CloneSet\nspec: {template: {spec: {containers: [{name: a, image: x}]}}}\n")
    code, out, err = inject("-f", "-", given=given)
    equal((code, out), (0, given))
    equal(err, "-:4:7: note: document 2: left unchanged: it uses hostNetwork, so reprise would use the ports of the node\n"
          "-:8:1: note: document 4: left unchanged: CloneSet is not a known kind of workload, but has spec.template.spec.containers\n"
          "-: note: left unchanged, because they do not run pods: 2 Service\n")


def test_inject_replaces_a_sidecar_of_another_version():
    code, old, _ = inject("-f", "-", "--image", "registry/reprise:0.0.1", "--limits", "memory=64Mi", given=POD)
    equal(code, 0)
    code, new, err = inject("-f", "-", given=old)
    equal(code, 0)
    version = subprocess.run([options.binary, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout.split()[1]
    equal(new, old.replace(b"registry/reprise:0.0.1", f"registry/reprise:{version}".encode()))
    assert "note: document 1: its sidecar, registry/reprise:0.0.1, was replaced\n" in err, err
