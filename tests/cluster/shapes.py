"""Pods of every shape, each with its expected result, to test the policy of deploy/kubernetes."""
from dataclasses import dataclass, field
from typing import Callable

SIDECAR = {"name": "mesh", "image": "m", "restartPolicy": "Always"}
PROXY = "http://127.0.0.1:3128"
SPELLED = ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ws_proxy", "WS_PROXY", "wss_proxy", "WSS_PROXY")
EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
FROM = {"configMapKeyRef": {"name": "proxies", "key": "http"}}


@dataclass
class Shape:
    name: str
    spec: dict
    holds: Callable  # asserts the properties of the created Pod
    annotations: dict = field(default_factory=dict)
    labels: dict = field(default_factory=lambda: {"reprise.dev/inject": "true"})
    namespace: str = "default"


def ours(pod):
    return next((one for one in pod["spec"].get("initContainers", []) if one["name"] == "reprise"), None)


def environment(pod, name="a", key="containers"):
    """Returns the environment variables of a container in order. Fails if a name occurs twice."""
    entries = next(one for one in pod["spec"][key] if one["name"] == name).get("env", [])
    names = [entry["name"] for entry in entries]
    assert len(names) == len(set(names)), names
    return {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in entries}


def is_left_alone(why):
    def holds(pod):
        assert ours(pod) is None
        status = pod["metadata"].get("annotations", {}).get("reprise.dev/status", "")
        assert why in status, status
        assert "http_proxy" not in environment(pod)
    return holds


def has_resources(**wanted):
    def holds(pod):
        assert ours(pod)["resources"] == wanted, ours(pod)["resources"]
    return holds


def of_quality(quality, **wanted):
    def holds(pod):
        has_resources(**wanted)(pod)
        assert pod["status"]["qosClass"] == quality, pod["status"]
    return holds


def container(**more):
    return {"name": "a", "image": "x"} | more


def variables(*entries, **more):
    return {"containers": [container(env=list(entries))]} | more


def is_plain(pod):
    assert pod["spec"]["initContainers"][0]["name"] == "reprise"
    env = environment(pod)
    assert [env[name] for name in SPELLED] == [PROXY] * len(SPELLED), env
    assert env["no_proxy"] == env["NO_PROXY"] and "169.254.169.254" in env["no_proxy"]
    annotations = pod["metadata"]["annotations"]
    assert annotations["reprise.dev/status"] == "injected" and annotations[EVICT].split(",")[-1] == "reprise-replay", annotations
    assert pod["metadata"]["labels"]["reprise.dev/inject"] == "true"
    assert "version: 1" in annotations["reprise.dev/config"]
    config = next(one for one in pod["spec"]["volumes"] if one["name"] == "reprise-config")
    assert config["downwardAPI"]["items"][0]["fieldRef"]["fieldPath"] == "metadata.annotations['reprise.dev/config']", config
    assert ours(pod)["terminationMessagePolicy"] == "FallbackToLogsOnError"


def keeps_theirs(pod):
    env = environment(pod)
    assert env["http_proxy"] == env["HTTP_PROXY"] == FROM and env["https_proxy"] == env["HTTPS_PROXY"] == "http://corp:8080", env
    assert env["ws_proxy"] == PROXY and env["FIRST"] == "1"
    assert list(env)[:3] == ["FIRST", "HTTP_PROXY", "https_proxy"], "what is added stands behind"


def keeps_an_empty_proxy(pod):
    assert not environment(pod)["HTTP_PROXY"], environment(pod)
    assert "an empty http_proxy is kept" in pod["metadata"]["annotations"]["reprise.dev/status"], pod["metadata"]


def notes_what_is_not_seen(pod):
    assert environment(pod)["http_proxy"] == PROXY
    assert "envFrom is not read" in pod["metadata"]["annotations"]["reprise.dev/status"], pod["metadata"]


def joins_no_proxy(pod):
    env = environment(pod)
    assert env["NO_PROXY"].startswith("$(OWN),localhost") and env["no_proxy"].startswith("$(OWN),localhost"), env
    assert list(env).index("OWN") < list(env).index("no_proxy")


def keeps_no_proxy_of_elsewhere(pod):
    env = environment(pod)
    assert env["no_proxy"] == env["NO_PROXY"] == FROM, env


def keeps_the_order_of_init_containers(pod):
    assert [one["name"] for one in pod["spec"]["initContainers"]] == ["reprise", "mesh", "i"]
    assert "env" not in pod["spec"]["initContainers"][1], "a sidecar of others keeps its environment"
    assert environment(pod, "i", "initContainers")["http_proxy"] == PROXY


def obeys_annotations(pod):
    assert ours(pod)["image"] == "registry/reprise:2" and ours(pod)["imagePullPolicy"] == "Always"
    assert ours(pod)["securityContext"]["runAsUser"] == 1000650000
    assert {"name": "registry"} in pod["spec"]["imagePullSecrets"]
    has_resources(requests={"cpu": "50m", "memory": "64Mi"}, limits={"cpu": "1", "memory": "256Mi"})(pod)


def leaves_the_user_to_the_namespace(pod):
    assert "runAsUser" not in ours(pod)["securityContext"] and ours(pod)["securityContext"]["runAsNonRoot"]


def takes_the_config_map(pod):
    config = next(one for one in pod["spec"]["volumes"] if one["name"] == "reprise-config")
    assert config["configMap"]["name"] == "mine", config
    assert "reprise.dev/config" not in pod["metadata"]["annotations"]


def keeps_the_configuration(pod):
    assert pod["metadata"]["annotations"]["reprise.dev/config"] == "version: 1\n"


def keeps_volumes_and_evictions(pod):
    assert [one["name"] for one in pod["spec"]["volumes"]][:1] == ["mine"]
    assert pod["metadata"]["annotations"][EVICT] == "mine,reprise-replay"


def is_untouched(pod):
    assert ours(pod) is None and "http_proxy" not in environment(pod)
    assert "reprise.dev/status" not in pod["metadata"].get("annotations", {})


def has_one_reprise(pod):
    names = [one["name"] for one in pod["spec"]["initContainers"]]
    assert names == ["reprise"] and pod["spec"]["initContainers"][0]["image"] == "old", names


def is_large(pod):
    for one in pod["spec"]["containers"]:
        assert environment(pod, one["name"])["http_proxy"] == PROXY


LIMITS = {"cpu": "500m", "memory": "1Gi"}
GUARANTEED = {"limits": LIMITS, "requests": {"cpu": "0.5", "memory": "1024Mi"}}
NODE = {"nodeSelector": {"kubernetes.io/os": "windows"}}

SHAPES = [
    Shape("plain", {"containers": [container()]}, is_plain),
    Shape("best effort becomes burstable", {"containers": [container()]},
          of_quality("Burstable", requests={"cpu": "20m", "memory": "32Mi"}, limits={"memory": "192Mi"})),
    Shape("guaranteed", {"containers": [container(resources=GUARANTEED)]},
          of_quality("Guaranteed", requests={"cpu": "100m", "memory": "192Mi"}, limits={"cpu": "100m", "memory": "192Mi"})),
    Shape("guaranteed by limits alone", {"containers": [container(resources={"limits": LIMITS})]},
          of_quality("Guaranteed", requests={"cpu": "100m", "memory": "192Mi"}, limits={"cpu": "100m", "memory": "192Mi"})),
    Shape("guaranteed, larger", {"containers": [container(resources=GUARANTEED)]},
          of_quality("Guaranteed", requests={"cpu": "2", "memory": "1Gi"}, limits={"cpu": "2", "memory": "1Gi"}),
          {"reprise.dev/cpu-limit": "2", "reprise.dev/memory-limit": "1Gi"}),
    Shape("one container has no limits", {"containers": [container(resources=GUARANTEED), {"name": "b", "image": "x"}]},
          of_quality("Burstable", requests={"cpu": "20m", "memory": "32Mi"}, limits={"memory": "192Mi"})),
    Shape("resources of the Pod", {"containers": [container()], "resources": {"requests": LIMITS, "limits": LIMITS}},
          of_quality("Guaranteed")),
    Shape("resources of the Pod, and of reprise", {"containers": [container()], "resources": {"requests": LIMITS, "limits": LIMITS}},
          has_resources(requests={"cpu": "50m", "memory": "32Mi"}, limits={"memory": "192Mi"}), {"reprise.dev/cpu-request": "50m"}),
    Shape("a limit below the usual request", {"containers": [container()]},
          has_resources(requests={"cpu": "10m", "memory": "24Mi"}, limits={"cpu": "10m", "memory": "24Mi"}),
          {"reprise.dev/cpu-limit": "10m", "reprise.dev/memory-limit": "24Mi"}),
    Shape("annotations", {"containers": [container()]}, obeys_annotations, {
        "reprise.dev/image": "registry/reprise:2", "reprise.dev/image-pull-policy": "Always", "reprise.dev/pull-secret": "registry",
        "reprise.dev/run-as-user": "1000650000", "reprise.dev/cpu-request": "50m", "reprise.dev/memory-request": "64Mi",
        "reprise.dev/cpu-limit": "1", "reprise.dev/memory-limit": "256Mi"}),
    Shape("a secret more", {"containers": [container()], "imagePullSecrets": [{"name": "theirs"}]}, is_plain, {"reprise.dev/pull-secret": "r"}),
    Shape("the user is the namespace's", {"containers": [container()]}, leaves_the_user_to_the_namespace, {"reprise.dev/run-as-user": "none"}),
    Shape("a ConfigMap", {"containers": [container()]}, takes_the_config_map, {"reprise.dev/config-map": "mine"}),
    Shape("a configuration", {"containers": [container()]}, keeps_the_configuration, {"reprise.dev/config": "version: 1\n"}),
    Shape("volumes", {"containers": [container()], "volumes": [{"name": "mine", "emptyDir": {}}]}, keeps_volumes_and_evictions, {EVICT: "mine"}),
    Shape("proxies of their own", variables({"name": "FIRST", "value": "1"}, {"name": "HTTP_PROXY", "valueFrom": FROM},
                                            {"name": "https_proxy", "value": "http://corp:8080"}), keeps_theirs),
    Shape("no_proxy of their own", variables({"name": "OWN", "value": "a.b"}, {"name": "NO_PROXY", "value": "$(OWN)"}), joins_no_proxy),
    Shape("no_proxy from elsewhere", variables({"name": "no_proxy", "valueFrom": FROM}), keeps_no_proxy_of_elsewhere),
    Shape("an empty proxy", variables({"name": "http_proxy", "value": ""}),
          keeps_an_empty_proxy),
    Shape("variables from elsewhere", {"containers": [container(envFrom=[{"configMapRef": {"name": "net"}}])]}, notes_what_is_not_seen),
    Shape("init containers", {"containers": [container()], "initContainers": [SIDECAR, {"name": "i", "image": "x"}]},
          keeps_the_order_of_init_containers),
    Shape("host network", {"containers": [container()], "hostNetwork": True}, is_left_alone("hostNetwork")),
    Shape("Windows by its name", {"containers": [container()], "os": {"name": "windows"}}, is_left_alone("Windows")),
    Shape("Windows by its node", {"containers": [container()]} | NODE, is_left_alone("Windows")),
    Shape("refused by a label", {"containers": [container()]}, is_untouched, labels={"reprise.dev/inject": "false"}, namespace="wanted"),
    Shape("refused by an annotation", {"containers": [container()]}, is_untouched, {"reprise.dev/inject": "false"}),
    Shape("of a namespace", {"containers": [container()]}, is_plain, labels={}, namespace="wanted"),
    Shape("of a namespace, and asked for", {"containers": [container()]}, is_plain, namespace="wanted"),
    Shape("of another namespace", {"containers": [container()]}, is_untouched, labels={}),
    Shape("has one already", {"containers": [container()], "initContainers": [SIDECAR | {"name": "reprise", "image": "old"}]}, has_one_reprise),
    Shape("20 containers with 600 variables", {"containers": [
        {"name": f"c{i}", "image": "x", "env": [{"name": f"V{k}", "value": "x"} for k in range(600)]} for i in range(20)]}, is_large),
]
