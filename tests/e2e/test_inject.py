"""reprise inject: what a pipeline gives it, on a file, on standard input, and what is no manifest at all."""
import subprocess
import tempfile
from pathlib import Path

from harness import equal, options

GOLDEN = Path(__file__).resolve().parent.parent / "inject" / "golden"


def inject(*arguments, given=None, **more):
    """(exit code, standard output, standard error)"""
    done = subprocess.run([options.binary, "inject", *arguments], input=given, capture_output=True, timeout=120, check=False, **more)
    return done.returncode, done.stdout, done.stderr.decode()


def test_a_file_and_standard_input_come_to_the_same():
    wanted = (GOLDEN / "workloads.injected.yaml").read_bytes()
    code, out, err = inject("-f", str(GOLDEN / "workloads.yaml"))
    equal((code, out), (0, wanted))
    equal(err, f"{GOLDEN}/workloads.yaml:36:15: warning: document 2: HTTPS_PROXY comes from elsewhere (valueFrom) and stays as it is\n")
    code, out, err = inject("-f", "-", given=(GOLDEN / "workloads.yaml").read_bytes())
    equal((code, out), (0, wanted))
    assert err.startswith("-:36:15: warning: document 2: "), err
    equal(inject(str(GOLDEN / "workloads.injected.yaml")), (0, wanted, ""))


def test_remove_is_the_way_back():
    before = (GOLDEN / "workloads.yaml").read_bytes()
    equal(inject("--remove", "-f", str(GOLDEN / "workloads.injected.yaml")), (0, before, ""))
    equal(inject("--remove", "-f", "-", given=(GOLDEN / "workloads.injected.yaml").read_bytes()), (0, before, ""))
    note = "-: note: no pod has a sidecar of `reprise inject`: nothing was changed\n"
    equal(inject("--remove", "-f", "-", given=before), (0, before, note))
    foreign = b"kind: Pod\nspec:\n  containers:\n  - name: reprise\n    image: somebody/else\n"
    code, out, err = inject("--remove", "-f", "-", given=foreign)
    equal((code, out), (0, foreign))
    assert err.startswith("-:3:3: warning: document 1: the container reprise was not added by") and err.endswith(note), err
    for broken in (b"a: [\n", b"kind: Deployment\n", "kind: Pod\n".encode("utf-16")):
        equal(inject("--remove", "-f", "-", given=broken), inject("-f", "-", given=broken), "errors are those of inject")
    code, _, err = inject("--remove", "--image", "x", "-f", "-", given=before)
    equal(code, 2, err)


def test_image_and_config_map_are_named():
    code, out, _ = inject("-f", "-", "--image", 'registry/reprise@sha256:0"1', "--config-map", "shop-proxy",
                          given=b"kind: Pod\nspec:\n  containers:\n  - name: a\n")
    equal(code, 0)
    assert b'image: "registry/reprise@sha256:0\\"1"\n' in out and b'configMap: {name: "shop-proxy"}\n' in out, out


def test_what_is_no_workload_passes_byte_for_byte():
    for text in (b"", b"# words\n", b"---\n\n---\n", b"apiVersion: v1\r\nkind: Service\r\nspec: {a: &b 1, c: *b, d: 0o644}   # x\r\n",
                 b"\xef\xbb\xbfkind: Secret\nstringData: {a: '{{ x }}'}", b"kind: Widget\nspec:\n  containers: [{name: a}]\n  a: 1\n  a: 2\n"):
        code, out, err = inject("-f", "-", given=text)
        equal((code, out), (0, text))
        equal(err, "-: note: no workload is in it: nothing was changed\n")


def test_nothing_is_printed_where_one_document_is_wrong():
    good = b"kind: Pod\nspec: {containers: [{name: a}]}\n---\n"
    for text, told in ((b"a: [\n", ":5:1: error: document 2: no YAML: "), (b"words\n", ":4:1: error: document 2: no Kubernetes object"),
                       (b"kind: Deployment\n", ":4:1: error: document 2: Deployment: spec.template.spec.containers is missing or empty"),
                       (b"kind: Pod\nspec:\n\tcontainers:\n", ":6:1: error: document 2: no YAML: a tab"),
                       (b"kind: Pod\nspec:\n  containers:\n  - name: {{ .Values.name }}\n", "(is this a template? render it first)"),
                       (bytes(range(256)) * 40, "error: document 1: not text in UTF-8"),
                       ("kind: Pod\n".encode("utf-16"), "not text in UTF-8")):
        code, out, err = inject("-f", "-", given=good + text)
        equal((code, out), (1, b""), text)
        assert told in err and err.count("\n") == 1 and "-:" in err, err


def test_a_file_that_cannot_be_read_is_told():
    with tempfile.TemporaryDirectory() as folder:
        for path, why in ((folder, "Is a directory"), (folder + "/none.yaml", "No such file or directory")):
            equal(inject("-f", path), (1, b"", f"reprise inject: cannot read {path}: {why}; name a manifest, or - for standard input\n"))
    code, out, err = inject()
    equal((code, out), (2, b""))
    assert "--file" in err or "file is missing" in err, err


def test_output_that_cannot_be_written_fails():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([options.binary, "inject", "-f", str(GOLDEN / "workloads.yaml")], stdout=full, stderr=subprocess.PIPE,
                              timeout=60, check=False)
    equal(done.returncode, 1)
    assert b"cannot write: No space left on device" in done.stderr, done.stderr


def test_a_large_file_and_one_that_is_too_large():
    one = b"apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec:\n  containers:\n  - name: a\n    image: x\n---\n"
    count = 2000
    code, out, err = inject("-f", "-", given=one * count)
    equal((code, err, out.count(b"- name: reprise\n")), (0, "", count))
    with tempfile.NamedTemporaryFile() as file:
        file.truncate(64 * 1024 * 1024 + 1)
        equal(inject("-f", file.name), (1, b"", f"reprise inject: cannot read {file.name}: it is larger than 64 MiB; name a manifest, or - for standard input\n"))
