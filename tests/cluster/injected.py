"""Tests `reprise inject` with a corpus of manifests. A real API server must accept each result. The result may differ
from the original only in the parts that belong to reprise."""
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT / "tests/inject/corpus"
CONFIG = ROOT / "deploy/kubernetes/component/reprise.yaml"
OPTIONS = {"no options": [],
           "all options": ["--image", "registry.example/reprise:9", "--image-pull-policy", "Always", "--pull-secret", "keys", "--run-as-user", "none",
                           "--requests", "cpu=50m,memory=64Mi", "--limits", "cpu=1,memory=128Mi,ephemeral-storage=2Gi", "--config", str(CONFIG),
                           "--label", "--scrape"]}
# Manifests that are tested only without options of `reprise inject`, because these options cannot be applied to them.
# In the first, a template and a Pod share their metadata through a YAML anchor. In the second, a limit is below the
# resource request that an option sets.
CANNOT_CARRY = ("shared_metadata.yaml", "the shape 'a limit below the usual request'")
VARIABLES = {name for base in ("http", "https", "ws", "wss", "no") for name in (base + "_proxy", base.upper() + "_PROXY")} | {
    "NODE_USE_ENV_PROXY", "JAVA_TOOL_OPTIONS"}
OURS = {"annotations": ("cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes", "reprise.dev/config", "prometheus.io/scrape", "prometheus.io/port"),
        "labels": ("reprise.dev/inject",)}


def inject(program, text, *arguments):
    done = subprocess.run([program, "inject", *arguments, "-f", "-"], input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def comes_back(program, text, options):
    """Returns the manifest after the injection. Checks that a second injection changes nothing, and that `--remove`
    restores the bytes of the original."""
    once = inject(program, text, *options)
    assert inject(program, once, *options) == once, "twice is not once"
    assert inject(program, once, "--remove") == text, "the way back ends elsewhere"
    return once


def pods_in(thing):
    """Returns the Pods and Pod templates in a Kubernetes object: the mappings that have a Pod's metadata and spec."""
    if thing["kind"] == "List":
        return [pod for item in thing["items"] for pod in pods_in(item)]
    if thing["kind"] == "Pod":
        return [thing]
    if thing["kind"] == "PodTemplate":
        return [thing["template"]]
    spec = thing.get("spec", {})
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    return [spec["template"]] if "containers" in spec.get("template", {}).get("spec", {}) else []


def without_ours(thing):
    """Removes everything that reprise or the server adds from an object. Changes and returns `thing`."""
    for pod in pods_in(thing):
        spec, metadata = pod["spec"], pod.get("metadata") or {}
        for folder, keys in OURS.items():
            mapping = {key: value for key, value in (metadata.get(folder) or {}).items() if key not in keys}
            metadata[folder] = mapping
        pod["metadata"] = metadata
        for key, names in (("initContainers", ("reprise",)), ("volumes", ("reprise-config", "reprise-replay")), ("imagePullSecrets", ("keys", "registry", "r"))):
            spec[key] = [one for one in spec.get(key) or [] if one["name"] not in names]
        for one in spec["initContainers"] + spec["containers"]:
            one["env"] = [entry for entry in one.get("env") or [] if entry["name"] not in VARIABLES]
    return without_the_servers(thing)


def without_the_servers(thing):
    """Removes the fields that the server generates, and fields whose value depends on reprise's additions. Changes and
    returns `thing`."""
    thing.pop("status", None)
    thing.get("spec", {}).pop("selector", None)  # a Job's selector is generated; inject never changes an author's selector
    for pod in [thing, *pods_in(thing)]:
        metadata = pod.get("metadata") or {}
        for made in ("uid", "creationTimestamp", "resourceVersion", "generation", "managedFields", "name"):
            metadata.pop(made, None)
        # A ReplicationController copies the labels of its template; a Job generates its own.
        metadata["labels"] = {key: value for key, value in (metadata.get("labels") or {}).items()
                              if key not in OURS["labels"] and not key.endswith(("controller-uid", "job-name"))}
        pod["metadata"] = metadata
        # If the author sets no requests for the whole Pod, the server sets them to the sum over its containers.
        pod.get("spec", {}).get("resources", {}).pop("requests", None)
    return thing


def things_in(documents):
    """Returns the objects of consecutive JSON documents. A list counts as its items."""
    decoder, at, things = json.JSONDecoder(), 0, []
    documents = documents.rstrip()
    while at < len(documents):
        thing, at = decoder.raw_decode(documents, at)
        at += len(documents[at:]) - len(documents[at:].lstrip())
        things += thing["items"] if thing["kind"] == "List" else [thing]
    return things


def seen_by(server, text):
    """Returns the objects of a manifest as the server would store them, in order. Fails if the server does not know a
    field."""
    done = server.kubectl("create", "--dry-run=server", "--validate=strict", "-o", "json", "-f", "-", text=text.decode())
    assert done.returncode == 0, done.stderr
    return things_in(done.stdout)


def is_injected(server, program, text, options):
    after = comes_back(program, text, options)
    before, things = seen_by(server, text), seen_by(server, after)
    assert len(before) == len(things)
    for one, other in zip(before, things):
        assert without_ours(one) == without_ours(other), f"{json.dumps(one, indent=1)}\n{json.dumps(other, indent=1)}"


def fits(server, program, kind, spec, options):
    """Checks injection into a namespace that has requirements for every container (a LimitRange or ResourceQuota): the
    server accepts the Pod only if it was injected with `options`."""
    namespace = kind.lower()
    assert server.kubectl("create", "namespace", namespace).returncode == 0
    demand = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "demand", "namespace": namespace}, "spec": spec}
    assert server.kubectl("apply", "-f", "-", text=json.dumps(demand)).returncode == 0
    if kind == "ResourceQuota":  # a controller normally writes this status
        status = json.dumps({"status": {"hard": spec["hard"], "used": {name: "0" for name in spec["hard"]}}})
        done = server.kubectl("patch", "resourcequota", "demand", "-n", namespace, "--subresource=status", "--type=merge", "-p", status)
        assert done.returncode == 0, done.stderr
    text = (f"apiVersion: v1\nkind: Pod\nmetadata: {{name: a, namespace: {namespace}}}\nspec:\n  containers:\n  - name: a\n    image: a\n"
            "    resources: {requests: {cpu: 100m, memory: 64Mi, ephemeral-storage: 1Gi}, limits: {cpu: 200m, memory: 96Mi, ephemeral-storage: 1Gi}}\n").encode()

    def told(*arguments):
        done = server.kubectl("create", "--dry-run=server", "-f", "-", text=inject(program, text, *arguments).decode())
        return done.stderr if done.returncode != 0 else ""
    server.until(lambda: "forbidden" in told(), f"the {kind} is in force")
    assert told(*options) == "", told(*options)


def cases(server, program, shapes):
    """Yields the test cases. `shapes` maps a name to a Pod."""
    server.knows("argoproj.io", "v1alpha1", "Rollout")
    texts = {file.name: file.read_bytes() for file in sorted(CORPUS.iterdir())}
    texts |= {f"the shape '{name}'": json.dumps(pod, indent=2).encode() for name, pod in shapes.items()}
    for name, text in texts.items():
        for said, options in OPTIONS.items():
            if options and name in CANNOT_CARRY:
                continue
            yield f"inject with {said}: {name}", lambda text=text, options=options: is_injected(server, program, text, options)
    yield "inject fits into a LimitRange of ratios", lambda: fits(
        server, program, "LimitRange", {"limits": [{"type": "Container", "maxLimitRequestRatio": {"memory": "2", "cpu": "4"}}]},
        ["--requests", "cpu=50m,memory=96Mi", "--limits", "cpu=200m"])
    yield "inject fits into a ResourceQuota", lambda: fits(
        server, program, "ResourceQuota", {"hard": {"limits.cpu": "1", "limits.memory": "1Gi", "requests.ephemeral-storage": "10Gi"}},
        ["--limits", "cpu=500m", "--requests", "ephemeral-storage=1Gi"])
