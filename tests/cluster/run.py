#!/usr/bin/env python3
"""Tests deploy/kubernetes on a real API server: the server must accept every manifest and every result of `reprise inject`, and the policy
must inject reprise correctly into Pods of every shape.

    REPRISE_K8S_BIN=FOLDER python3 tests/cluster/run.py [--bin PROGRAM]    server.py describes how to get the binaries in FOLDER"""
import argparse
import json
import subprocess
import sys
from pathlib import Path

import yaml

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

import injected  # noqa: E402
import server as cluster  # noqa: E402
from junit import Suite  # noqa: E402
from shapes import SHAPES, ours, takes_the_config_map  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent.parent / "deploy/kubernetes"
NEEDED = ("kube-apiserver", "etcd", "kubectl")


def pod_of(shape):
    return {"apiVersion": "v1", "kind": "Pod", "spec": shape.spec,
            "metadata": {"name": "shape", "namespace": shape.namespace, "labels": shape.labels, "annotations": shape.annotations}}


def accepts(server, arguments):
    done = server.kubectl("apply", "--dry-run=server", "--validate=strict", *arguments)
    assert done.returncode == 0, done.stderr


def refusal(server, level, pod):
    """Returns why a namespace with the Pod Security level `level` rejects the Pod. Empty if the namespace accepts the
    Pod."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": level, "labels": {"pod-security.kubernetes.io/enforce": level}}}
    assert server.kubectl("apply", "-f", "-", text=json.dumps(namespace)).returncode == 0
    done = server.kubectl("create", "--dry-run=server", "-n", level, "-f", "-", text=json.dumps(pod))
    return done.stderr if done.returncode != 0 else ""


def pods_of(server, *arguments):
    """Returns the Pods that the workloads of the manifests would create, by name of the workload."""
    done = server.kubectl("create", "--dry-run=client", "-o", "json", *arguments)
    assert done.returncode == 0, done.stderr
    return {thing["metadata"]["name"]: {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "shipped"}, "spec": pod["spec"]}
            for thing in injected.things_in(done.stdout) for pod in injected.pods_in(thing)}


def transparent_needs_privileged(server):
    """Checks that the Pod of transparent.yaml needs a privileged namespace only because of the container that sets the
    redirect rules."""
    pod = pods_of(server, "-f", str(FOLDER / "transparent.yaml"))["app-transparent"]
    assert refusal(server, "privileged", pod) == ""
    for level in ("baseline", "restricted"):
        assert 'container "reprise-redirect" must not include "NET_ADMIN"' in refusal(server, level, pod), refusal(server, level, pod)
    pod["spec"]["initContainers"] = [one for one in pod["spec"]["initContainers"] if one["name"] != "reprise-redirect"]
    assert refusal(server, "restricted", pod) == "", refusal(server, "restricted", pod)


def shipped_pods_are_restricted(server):
    found = pods_of(server, "-k", str(FOLDER / "example"))
    for file in sorted(FOLDER.glob("*.yaml")) + sorted((FOLDER / "example").glob("*.yaml")):
        if file.name not in ("transparent.yaml", "policy.yaml", "kustomization.yaml"):
            found |= {f"{file.name}: {name}": pod for name, pod in pods_of(server, "-f", str(file)).items()}
    assert len(found) >= 9, list(found)
    refused = {name: refusal(server, "restricted", pod) for name, pod in found.items()}
    assert not any(refused.values()), refused


def sidecar_is_restricted(server, program):
    for options in injected.OPTIONS.values():
        text = injected.inject(program, (injected.CORPUS / "restricted.yaml").read_bytes(), *options)
        pod = injected.seen_by(server, text)[0]
        pod["metadata"].pop("namespace")
        assert refusal(server, "restricted", pod) == "", refusal(server, "restricted", pod)


def has_the_policy(server):
    """Waits until the accepted policy is active. Checks that the server reports no type error in the policy."""
    accepts(server, ["-f", str(FOLDER / "policy.yaml")])
    assert server.kubectl("apply", "-f", str(FOLDER / "policy.yaml")).returncode == 0
    server.kubectl("create", "namespace", "wanted")
    server.kubectl("label", "namespace", "wanted", "reprise.dev/inject=true")
    plain = pod_of(SHAPES[0])
    of_namespace = pod_of(next(shape for shape in SHAPES if shape.name == "of a namespace"))
    server.until(lambda: all("initContainers" in server.created(pod)["spec"] for pod in (plain, of_namespace)), "the policy is in force")


def removes_the_policy(server):
    """Checks that one command removes the policy and its binding, and that no Pod is rejected while only one of the two
    is removed."""
    assert server.kubectl("delete", "-f", str(FOLDER / "policy.yaml")).returncode == 0
    server.until(lambda: "initContainers" not in server.created(pod_of(SHAPES[0]))["spec"], "the policy has gone")


# Values for the Helm chart. In VALUES, every value differs from its default. NUMBERS has numbers and empty texts.
VALUES = {"image": {"repository": "registry.example:5000/reprise", "tag": "9", "pullPolicy": "Always", "pullSecret": "keys"}, "runAsUser": "none",
          "resources": {"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}},
          "noProxy": ["only.chart.example", ".all.example"], "configuration": "version: 1   # it's \\\\ \"quoted\"\n",
          "podMonitor": {"enabled": True, "interval": "30s", "labels": {"release": "prometheus"}}}
NUMBERS = {"runAsUser": 1000650000, "resources": {"requests": {"cpu": 0.5, "memory": 134217728}, "limits": {"cpu": "", "memory": None}},
           "noProxy": [".numbers.example"], "configMap": "mine"}
MISTAKES = ("runasuser=1", "runAsUser=root", "resources.limits.memroy=1Gi", "noProxy=x", "image.tag=9", "podMonitor.interval=15")


def names_of(values, prefix=""):
    """Yields the full name of each value of the chart, such as `image.tag`. A mapping of labels counts as one value,
    because labels may have any name."""
    for name, value in values.items():
        if isinstance(value, dict) and name != "labels":
            yield from names_of(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def render(*arguments, text=None):
    return subprocess.run([cluster.binary("helm"), "template", "reprise", str(FOLDER / "chart"), "--kube-version", "1.36.0", "--api-versions",
                           "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy", *arguments], input=text, capture_output=True, text=True, check=False)


def apply_chart(server, sign, *arguments, text=None):
    """Applies the chart and waits until its policy has replaced the earlier policy. Only the new policy puts the text
    `sign` into a Pod."""
    lint = subprocess.run([cluster.binary("helm"), "lint", "--strict", str(FOLDER / "chart"), *arguments], input=text, capture_output=True, text=True, check=False)
    done = render(*arguments, text=text)
    assert (lint.returncode, done.returncode) == (0, 0), lint.stdout + done.stderr
    applied = server.kubectl("apply", "--validate=strict", "-f", "-", text=done.stdout)
    assert applied.returncode == 0, applied.stderr
    server.until(lambda: sign in str(server.created(pod_of(SHAPES[0]))), "the policy of the chart is in force")


def obeys_every_value(server):
    every = set(names_of(yaml.safe_load((FOLDER / "chart/values.yaml").read_text(encoding="utf-8"))))
    assert every == set(names_of(VALUES)) | set(names_of(NUMBERS)), every
    apply_chart(server, ".all.example", "--values", "-", text=json.dumps(VALUES))
    pod = server.created(pod_of(SHAPES[0]))
    container, image = ours(pod), VALUES["image"]
    assert container["image"] == f"{image['repository']}:{image['tag']}" and container["imagePullPolicy"] == image["pullPolicy"], container
    assert "runAsUser" not in container["securityContext"] and container["resources"] == VALUES["resources"], container
    assert {"name": image["pullSecret"]} in pod["spec"]["imagePullSecrets"], pod["spec"]
    assert pod["metadata"]["annotations"]["reprise.dev/config"] == VALUES["configuration"], pod["metadata"]
    found = server.kubectl("get", "podmonitor", "reprise", "-o", "json")
    assert found.returncode == 0, found.stderr
    monitor = json.loads(found.stdout)
    assert monitor["metadata"]["labels"]["release"] == "prometheus" and monitor["spec"]["podMetricsEndpoints"][0]["interval"] == "30s", monitor


def obeys_numbers_and_nothing(server):
    """Checks that numbers in a values file work, although Helm reads them as floats. Checks that an empty limit means
    no limit, except for a Guaranteed Pod."""
    apply_chart(server, ".numbers.example", "--values", "-", text=json.dumps(NUMBERS))
    pod = server.created(pod_of(SHAPES[0]))
    takes_the_config_map(pod)
    assert ours(pod)["securityContext"]["runAsUser"] == NUMBERS["runAsUser"], ours(pod)
    assert ours(pod)["resources"] == {"requests": {"cpu": "500m", "memory": "134217728"}}, ours(pod)
    for name in ("guaranteed", "a configuration"):
        shape = next(shape for shape in SHAPES if shape.name == name)
        shape.holds(server.created(pod_of(shape)))


def refuses_mistakes():
    for mistake in MISTAKES:
        done = render("--set", mistake)
        assert done.returncode != 0 and mistake.rpartition("=")[0].split(".")[-1] in done.stderr, (mistake, done.stderr)


def is_for_older_clusters():
    """Checks that the chart uses v1beta1 of the policy if the cluster's API has no v1, and that nothing else
    differs."""
    done = subprocess.run([cluster.binary("helm"), "template", "reprise", str(FOLDER / "chart"), "--kube-version", "1.34.0"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("k8s.io/v1beta1", "k8s.io/v1") == render().stdout and "k8s.io/v1beta1" in done.stdout


def cases(server, program):
    server.knows("monitoring.coreos.com", "v1", "PodMonitor")
    for file in sorted(FOLDER.glob("*.yaml")):
        yield f"the server accepts {file.name}", lambda file=file: accepts(server, ["-f", str(file)])
    yield "the server accepts the example of the component", lambda: accepts(server, ["-k", str(FOLDER / "example")])
    yield "transparent.yaml needs a namespace of the level privileged", lambda: transparent_needs_privileged(server)
    yield "every other Pod is accepted where the level is restricted", lambda: shipped_pods_are_restricted(server)
    yield "the sidecar is accepted where the level is restricted", lambda: sidecar_is_restricted(server, program)
    # These cases run before the policy is installed, because the policy also injects reprise into Pods.
    yield from injected.cases(server, program, {shape.name: pod_of(shape) for shape in SHAPES if shape.namespace == "default"})
    yield "the policy comes into force", lambda: has_the_policy(server)
    for shape in SHAPES:
        yield f"policy: {shape.name}", lambda shape=shape: shape.holds(server.created(pod_of(shape)))
    if cluster.binary("helm") is None:
        yield "the chart", "client: no helm in REPRISE_K8S_BIN"
        return
    yield "the policy of the chart comes into force", lambda: apply_chart(server, "only.chart.example", "--set", "noProxy={only.chart.example}")
    for shape in SHAPES:
        yield f"chart: {shape.name}", lambda shape=shape: shape.holds(server.created(pod_of(shape)))
    yield "the chart obeys every value", lambda: obeys_every_value(server)
    yield "the chart obeys numbers and empty values", lambda: obeys_numbers_and_nothing(server)
    yield "without the policy and its bindings Pods are created as they are", lambda: removes_the_policy(server)
    yield "the chart refuses a value that it does not know", refuses_mistakes
    yield "the chart asks an older cluster for v1beta1", is_for_older_clusters


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
