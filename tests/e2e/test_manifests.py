"""Tests the manifests of deploy/kubernetes without a cluster: their fields exist in the API, the sidecar is the same
in each, the configurations are valid, and `reprise inject` and kustomize produce the expected output."""
import copy
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import NotPlayed, Reprise, equal, options

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "manifests"))
from fields import Fields  # noqa: E402

try:
    import yaml
except ImportError:
    yaml = None

FOLDER = ROOT / "deploy" / "kubernetes"
OF_KUSTOMIZE = ("component/kustomization.yaml", "component/environment.yaml", "component/replacements.yaml", "component/reprise.yaml",
                "example/kustomization.yaml")
PATCHES = ("component/pod-template.yaml", "component/cronjob.yaml", "component/pod.yaml")
HAVE_REPRISE = ("sidecar.yaml", "job.yaml", "job-old-layout.yaml", "transparent.yaml")
SPELLED = [name for base in ("http", "https", "ws", "wss", "no") for name in (base + "_proxy", base.upper() + "_PROXY")]


def objects(text):
    if yaml is None:
        raise NotPlayed("client", "python3-yaml is not installed")
    return [thing for thing in yaml.safe_load_all(text) if thing is not None]


def manifest(name):
    return objects((FOLDER / name).read_text(encoding="utf-8"))


def manifests():
    """Returns the names of the manifests that are sent to a cluster unchanged."""
    names = sorted(file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.yaml"))
    assert len(names) > 10, names
    return [name for name in names if name not in OF_KUSTOMIZE + PATCHES and not name.startswith("chart/")]


def pod_of(thing):
    spec = thing["spec"]
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    return spec.get("template", {}).get("spec", spec)


def pods(things):
    return [pod_of(thing) for thing in things
            if thing["kind"] in ("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob")]


def reprise_in(pod):
    """Returns the only reprise container of the pod."""
    found = [one for key in ("initContainers", "containers") for one in pod.get(key, []) if one["name"] == "reprise"]
    equal(len(found), 1, str(pod))
    return found[0]


def inject(text):
    done = subprocess.run([options.binary, "inject", "-f", "-"], input=text.encode(), capture_output=True, timeout=60, check=False)
    told = [line for line in done.stderr.decode().splitlines() if ": note: " not in line]
    equal((done.returncode, told), (0, []))
    return done.stdout.decode()


def check_environment(container):
    names = [entry["name"] for entry in container["env"]]
    equal(len(names), len(set(names)), f"{container['name']}: {names}")
    values = {entry["name"]: entry.get("value") for entry in container["env"]}
    for name in SPELLED:
        wanted = "127.0.0.1,::1,kubernetes.default.svc" if name.lower() == "no_proxy" else "http://127.0.0.1:3128"
        assert wanted in values[name], (container["name"], name, values[name])


def bare():
    return pods(objects(inject("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: [{name: a, image: b}]\n")))[0]


def test_manifests_use_only_fields_of_the_kubernetes_api():
    fields = Fields()
    for name in manifests():
        for thing in manifest(name):
            equal(fields.faults(thing), [], name)
    for name in PATCHES:
        for thing in manifest(name):
            equal(fields.faults(thing, whole=False), [], name)


def test_manifest_check_finds_every_misspelt_field():
    fields = Fields()
    whole = [thing for name in manifests() for thing in manifest(name)]

    def planted(thing, at):
        """Yields copies of the object, each with one key misspelt. Leaves keys alone if the API does not define
        them."""
        for key, value in list(at.items()):
            if at is thing and key in ("apiVersion", "kind"):
                continue
            at["x" + key] = at.pop(key)
            yield key, copy.deepcopy(thing)
            at[key] = at.pop("x" + key)
            for inner in value if isinstance(value, list) else [value]:
                free = ("data", "labels", "annotations", "matchLabels", "selector", "limits", "requests")
                if isinstance(inner, dict) and key not in free:
                    yield from planted(thing, inner)

    count = 0
    for thing in whole:
        for key, wrong in planted(thing, thing):
            count += 1
            assert fields.faults(wrong), (thing["kind"], key)
    assert count > 400, count
    wrong = copy.deepcopy(manifest("sidecar.yaml")[1])
    wrong["spec"]["replicas"] = "2"
    equal(fields.faults(wrong), ["apps/v1 Deployment.spec.replicas: '2' is no number"])


def test_reprise_container_is_identical_in_all_manifests():
    wanted, volumes = reprise_in(bare()), bare()["volumes"]
    for name in HAVE_REPRISE + PATCHES:
        for pod in pods(manifest(name)):
            found = copy.deepcopy(reprise_in(pod))
            if name == "job-old-layout.yaml":  # this Job has a control socket, and its sidecar is not a native one
                found |= {key: wanted[key] for key in ("restartPolicy", "startupProbe")}
                equal(found["env"], [{"name": "REPRISE_CONTROL", "value": "/run/reprise/control.sock"}])
                found["env"] = wanted["env"]
                equal(found["volumeMounts"].pop(), {"name": "control", "mountPath": "/run/reprise"})
            else:
                equal(pod["initContainers"][0], found, name)
            equal(found, wanted, name)
            for volume in volumes:
                there = [one for one in pod["volumes"] if one["name"] == volume["name"]]
                equal([list(one) for one in there], [list(volume)], name)
    hard = wanted["securityContext"]
    equal((hard["runAsNonRoot"], hard["readOnlyRootFilesystem"], hard["allowPrivilegeEscalation"], hard["capabilities"]),
          (True, True, False, {"drop": ["ALL"]}))


def test_only_the_container_that_redirects_traffic_gets_a_linux_capability():
    for name in manifests():
        for pod in pods(manifest(name)):
            for container in pod.get("initContainers", []) + pod["containers"]:
                added = container.get("securityContext", {}).get("capabilities", {}).get("add", [])
                equal(added, ["NET_ADMIN"] if container["name"] == "reprise-redirect" else [], f"{name}: {container['name']}")


def test_every_container_sends_its_requests_through_reprise():
    for name in ("sidecar.yaml", "job.yaml", "job-old-layout.yaml"):
        for pod in pods(manifest(name)):
            for container in pod["containers"]:
                if container["name"] != "reprise":
                    equal(container["env"], bare()["containers"][0]["env"], name)
                    check_environment(container)


def test_admission_policy_and_component_and_chart_are_generated_from_sidecar_yaml():
    """Checks only the text of the generated files. tests/cluster tests the admission policy on a real API
    server."""
    objects("")
    done = subprocess.run([sys.executable, str(FOLDER / "make.py"), "--check"], capture_output=True, text=True, timeout=60, check=False)
    equal((done.returncode, done.stdout, done.stderr), (0, "", ""))
    policy, *bindings = manifest("policy.yaml")
    equal({binding["spec"]["policyName"] for binding in bindings}, {policy["metadata"]["name"]})
    expressions = [policy["spec"]["mutations"][0]["jsonPatch"]["expression"]]
    expressions += [one["expression"] for one in policy["spec"]["variables"] + policy["spec"]["matchConditions"]]
    for expression in expressions:
        bare_text = re.sub(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"", "", expression)
        for left, right in ("()", "[]", "{}"):
            equal(bare_text.count(left), bare_text.count(right), f"{expression}: {left}{right}")


def test_every_configuration_in_a_manifest_passes_check():
    found = {}
    for name in manifests():
        for thing in manifest(name):
            if thing["kind"] == "ConfigMap" and "reprise.yaml" in thing["data"]:
                found[name] = thing["data"]["reprise.yaml"]
                done = subprocess.run([options.binary, "check", "-"], input=found[name], capture_output=True, text=True, timeout=60, check=False)
                equal((done.returncode, done.stderr), (0, ""), name)
                assert "bind: 0.0.0.0:3129, allow_remote: true, control: /" in found[name], name
    plain = (FOLDER / "component" / "reprise.yaml").read_text(encoding="utf-8")
    equal({name for name, text in found.items() if text == plain}, {"configmap.yaml", "sidecar.yaml"})
    equal(set(found), {"configmap.yaml", "sidecar.yaml", "job-old-layout.yaml", "transparent.yaml"})
    assert "control: /run/reprise/control.sock" in found["job-old-layout.yaml"]


def test_command_of_the_redirecting_container_prints_firewall_rules():
    configuration, deployment = manifest("transparent.yaml")
    container = pod_of(deployment)["initContainers"][1]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(configuration["data"]["reprise.yaml"])
        file.flush()
        arguments = [file.name if one == "/etc/reprise/reprise.yaml" else one for one in container["args"] if one != "--apply"]
        equal(len(arguments), len(container["args"]) - 1)
        done = subprocess.run([options.binary, *arguments], capture_output=True, text=True, timeout=60, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    user = str(reprise_in(pod_of(deployment))["securityContext"]["runAsUser"])
    assert user in done.stdout and "3190" in done.stdout, done.stdout


def test_inject_accepts_every_manifest():
    fields = Fields()
    for name in manifests():
        before = (FOLDER / name).read_text(encoding="utf-8")
        after = inject(before)
        for thing in objects(after):
            equal(fields.faults(thing), [], name)
        equal(after != before, name in ("example/app.yaml", "example/ask.yaml", "example/flaky.yaml"), name)
        equal(inject(after), after, name)
    for pod in pods(objects(inject((FOLDER / "example" / "app.yaml").read_text(encoding="utf-8")))):
        reprise_in(pod)
        for container in pod["containers"]:
            check_environment(container)


def kustomize(folder):
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        raise NotPlayed("client", "no kubectl here")
    done = subprocess.run([kubectl, "version", "--client"], capture_output=True, text=True, timeout=60, check=False)
    version = re.search(r"Kustomize Version: v(\d+)", done.stdout)
    if version is None or int(version.group(1)) < 5:
        raise NotPlayed("client", "this kubectl knows no components")
    done = subprocess.run([kubectl, "kustomize", str(folder)], capture_output=True, text=True, timeout=60, check=False)
    equal((done.returncode, done.stderr), (0, ""))
    return objects(done.stdout)


def test_kustomize_component_adds_the_sidecar_to_every_workload():
    made, fields = kustomize(FOLDER / "example"), Fields()
    equal(sorted(thing["kind"] for thing in made), ["ConfigMap", "CronJob", "Deployment", "Service"])
    for thing in made:
        equal(fields.faults(thing), [])
    wanted = reprise_in(bare())
    for pod in pods(made):
        equal(pod["initContainers"], [wanted])
        equal(pod["volumes"], bare()["volumes"])
        for container in pod["containers"]:
            check_environment(container)
    equal(made[0]["data"]["reprise.yaml"], (FOLDER / "component" / "reprise.yaml").read_text(encoding="utf-8"))


def test_kustomization_can_change_what_the_component_added():
    """Applies the kustomization of the README to the example."""
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    shown, = re.findall(r"<!-- kustomization -->\n```yaml\n(.*?)^```$", page, re.M | re.S)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FOLDER, f"{folder}/kubernetes")
        place = Path(folder, "kubernetes/own")
        shutil.copytree(FOLDER / "example", place)
        (place / "kustomization.yaml").write_text(shown, encoding="utf-8")
        made = kustomize(place)
    fields, by_kind = Fields(), {thing["kind"]: thing for thing in made}
    equal([fault for thing in made for fault in fields.faults(thing)], [])
    configuration = by_kind["ConfigMap"]["data"]["reprise.yaml"]
    done = subprocess.run([options.binary, "check", "-"], input=configuration, capture_output=True, text=True, timeout=60, check=False)
    equal((done.returncode, done.stderr, "deadline: 60s" in configuration), (0, "", True))
    deployment, cronjob = pod_of(by_kind["Deployment"]), pod_of(by_kind["CronJob"])
    for pod in (deployment, cronjob):
        equal(reprise_in(pod)["image"], "registry.example/reprise:0.1.0")
    changed, plain = reprise_in(deployment), reprise_in(cronjob)
    equal((changed["resources"]["limits"], changed["imagePullPolicy"], changed["securityContext"]),
          ({"cpu": "100m", "memory": "192Mi"}, "Always", plain["securityContext"] | {"runAsUser": 1000650000}))
    equal(deployment["imagePullSecrets"], [{"name": "registry"}])
    equal(by_kind["Deployment"]["spec"]["template"]["metadata"]["labels"], {"app": "shop", "reprise.dev/inject": "true"})
    equal(by_kind["Deployment"]["spec"]["selector"], {"matchLabels": {"app": "shop"}})


def test_readme_example_recovers_all_ten_requests():
    """Runs two scripts as their containers would: the upstream of example/flaky.yaml and the client of
    example/ask.yaml. reprise is between them."""
    server = pod_of(manifest("example/flaky.yaml")[0])["containers"][0]
    client = pod_of(manifest("example/ask.yaml")[0])["containers"][0]
    asked = {"env": {"PATH": os.environ["PATH"]}, "capture_output": True, "text": True, "timeout": 60, "check": False}
    with Reprise() as reprise:
        # The script is changed to listen on a free port and to print the port.
        head, last = server["args"][0].rstrip().rsplit("\n", 1)
        assert last.endswith(".serve_forever()"), last
        program = f"{head}\nserver = {last.removesuffix('.serve_forever()')}\nprint(server.server_address[1], flush=True)\nserver.serve_forever()\n"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env={**os.environ, "PORT": "0"}) as flaky:
            try:
                asked["env"]["UPSTREAM"] = f"127.0.0.1:{int(flaky.stdout.readline())}"
                alone = subprocess.run([*client["command"], *client["args"]], **asked)
                equal(alone.stdout.split(), ["503", "200"] * 5)
                asked["env"]["http_proxy"] = reprise.proxy_url
                through = subprocess.run([*client["command"], *client["args"]], **asked)
                equal(through.stdout.split(), ["200"] * 10)
            finally:
                flaky.terminate()
        reprise.expect_metric(10, "reprise_recovered_total")
