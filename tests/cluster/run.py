#!/usr/bin/env python3
"""Plays the manifests of deploy/kubernetes on a real API server: what it accepts, what `reprise inject` makes of a corpus, and what the
policy makes of Pods of every shape.

    REPRISE_K8S_BIN=FOLDER python3 tests/cluster/run.py [--bin PROGRAM]    where the binaries come from: server.py"""
import argparse
import subprocess
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import injected  # noqa: E402
import server as cluster  # noqa: E402
from junit import Suite  # noqa: E402
from shapes import SHAPES  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent.parent / "deploy/kubernetes"
NEEDED = ("kube-apiserver", "etcd", "kubectl")
# Kinds of the Prometheus operator, and files of kustomize and of the component.
NO_OBJECTS = ("podmonitor.yaml",)


def pod_of(shape):
    return {"apiVersion": "v1", "kind": "Pod", "spec": shape.spec,
            "metadata": {"name": "shape", "namespace": shape.namespace, "labels": shape.labels, "annotations": shape.annotations}}


def accepts(server, arguments):
    done = server.kubectl("apply", "--dry-run=server", "--validate=strict", *arguments)
    assert done.returncode == 0, done.stderr


def has_the_policy(server):
    """It is in force a little later than it is accepted; and the server finds no type in it wrong."""
    accepts(server, ["-f", str(FOLDER / "policy.yaml")])
    assert server.kubectl("apply", "-f", str(FOLDER / "policy.yaml")).returncode == 0
    server.kubectl("create", "namespace", "wanted")
    server.kubectl("label", "namespace", "wanted", "reprise.dev/inject=true")
    plain = pod_of(SHAPES[0])
    of_namespace = pod_of(next(shape for shape in SHAPES if shape.name == "of a namespace"))
    server.until(lambda: all("initContainers" in server.created(pod)["spec"] for pod in (plain, of_namespace)), "the policy is in force")


def has_the_chart(server):
    """Its policy takes the place of the other: what tells them apart is a host that only the chart was given."""
    done = subprocess.run([cluster.binary("helm"), "template", "reprise", str(FOLDER / "chart"), "--set", "noProxy={only.chart.example}",
                           "--kube-version", "1.36.0", "--api-versions", "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    applied = server.kubectl("apply", "--validate=strict", "-f", "-", text=done.stdout)
    assert applied.returncode == 0, applied.stderr
    server.until(lambda: "only.chart.example" in str(server.created(pod_of(SHAPES[0]))), "the policy of the chart is in force")


def cases(server, program):
    for file in sorted(FOLDER.glob("*.yaml")):
        if file.name not in NO_OBJECTS:
            yield f"the server accepts {file.name}", lambda file=file: accepts(server, ["-f", str(file)])
    yield "the server accepts the example of the component", lambda: accepts(server, ["-k", str(FOLDER / "example")])
    # Before the policy, which puts reprise into Pods as well.
    yield from injected.cases(server, program, {shape.name: pod_of(shape) for shape in SHAPES if shape.namespace == "default"})
    yield "the policy comes into force", lambda: has_the_policy(server)
    for shape in SHAPES:
        yield f"policy: {shape.name}", lambda shape=shape: shape.holds(server.created(pod_of(shape)))
    if cluster.binary("helm") is None:
        yield "the chart", "client: no helm in REPRISE_K8S_BIN"
        return
    yield "the policy of the chart comes into force", lambda: has_the_chart(server)
    for shape in SHAPES:
        yield f"chart: {shape.name}", lambda shape=shape: shape.holds(server.created(pod_of(shape)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=str(FOLDER.parent.parent / "build/release/reprise"), help="the program (default: %(default)s)")
    program = parser.parse_args().bin
    suite = Suite("cluster")
    missing = [name for name in NEEDED if cluster.binary(name) is None]
    if missing:
        suite.skips("manifests on a real API server", f"client: no {', '.join(missing)} in REPRISE_K8S_BIN")
        return suite.end()
    with cluster.Server() as server:
        for name, holds in cases(server, program):
            if isinstance(holds, str):
                suite.skips(name, holds)
            else:
                suite.plays(name, holds)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
