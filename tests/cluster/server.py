"""Runs a Kubernetes API server with its etcd on loopback during a test.

The binaries come from the folder REPRISE_K8S_BIN: kube-apiserver, kubectl and etcd (or Debian's, package etcd-server).
To build kube-apiserver, make an empty Go module that requires k8s.io/kubernetes at v1.36.3. Copy each line `replace
k8s.io/X => ./staging/src/k8s.io/X` from the go.mod of k8s.io/kubernetes, and write `k8s.io/X v0.36.3` after its `=>`.
Then run `go mod tidy` and `CGO_ENABLED=0 go build k8s.io/kubernetes/cmd/kube-apiserver`. The tests of the chart need
helm: `go install helm.sh/helm/v3/cmd/helm@latest`."""
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

START = 300  # maximum seconds until a server has started: about ten are usual, a busy machine needs more


def binary(name):
    """Returns the path of a binary, or None."""
    folder = os.environ.get("REPRISE_K8S_BIN", "")
    found = Path(folder) / name
    return str(found) if folder and found.exists() else shutil.which(name)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Server:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="reprise-cluster-"))
        self.children = []

    def _start(self, name, *arguments):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.children.append(subprocess.Popen([binary(name), *arguments], cwd=self.folder, stdout=log, stderr=log))

    def __enter__(self):
        for command in (["genrsa", "-out", "sa.key", "2048"], ["rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub"]):
            subprocess.run(["openssl", *command], cwd=self.folder, check=True, capture_output=True)
        (self.folder / "tokens.csv").write_text('test,admin,admin,"system:masters"\n', encoding="utf-8")
        etcd, peers, port = free_port(), free_port(), free_port()
        self._start("etcd", "--data-dir", "etcd", "--listen-client-urls", f"http://127.0.0.1:{etcd}", "--advertise-client-urls",
                    f"http://127.0.0.1:{etcd}", "--listen-peer-urls", f"http://127.0.0.1:{peers}")
        self._start("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{etcd}", "--bind-address", "127.0.0.1", "--secure-port", str(port),
                    "--cert-dir", "certificates", "--service-account-issuer", "https://test", "--service-account-key-file", "sa.pub",
                    "--service-account-signing-key-file", "sa.key", "--authorization-mode", "AlwaysAllow", "--token-auth-file", "tokens.csv",
                    "--service-cluster-ip-range", "10.0.0.0/24", "--disable-admission-plugins", "ServiceAccount")
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "x",
                  "clusters": [{"name": "x", "cluster": {"server": f"https://127.0.0.1:{port}", "insecure-skip-tls-verify": True}}],
                  "users": [{"name": "x", "user": {"token": "test"}}], "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}]}
        (self.folder / "kubeconfig").write_text(json.dumps(config), encoding="utf-8")
        self.until(lambda: self.kubectl("get", "namespace", "default").returncode == 0, "the API server works")
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            child.terminate()
            child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def until(self, holds, what):
        end = time.monotonic() + START
        while not holds():
            ended = [child.args[0] for child in self.children if child.poll() is not None]
            if ended or time.monotonic() > end:
                logs = "".join(file.read_text(errors="replace")[-2000:] for file in self.folder.glob("*.log"))
                raise AssertionError(f"not so: {what}; ended: {ended}\n{logs}")
            time.sleep(0.2)

    def kubectl(self, *arguments, text=None):
        return subprocess.run([binary("kubectl"), *arguments], input=text, capture_output=True, text=True, check=False,
                              env=os.environ | {"KUBECONFIG": str(self.folder / "kubeconfig")})

    def knows(self, group, version, kind):
        """Defines a custom kind with arbitrary fields."""
        plural = kind.lower() + "s"
        definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"}, "spec": {
            "group": group, "scope": "Namespaced", "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [{"name": version, "served": True, "storage": True,
                          "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
        assert self.kubectl("apply", "-f", "-", text=json.dumps(definition)).returncode == 0
        thing = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": {"name": "known"}}
        self.until(lambda: self.kubectl("create", "--dry-run=server", "-f", "-", text=json.dumps(thing)).returncode == 0, f"the server knows {kind}")

    def created(self, thing):
        """Returns the object as the server would create it."""
        done = self.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", text=json.dumps(thing))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
