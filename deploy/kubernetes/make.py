#!/usr/bin/env python3
"""Generates, from sidecar.yaml, the files that add reprise to Pods: policy.yaml, the kustomize component, and the
policy of the Helm chart.

    python3 deploy/kubernetes/make.py           writes the files
    python3 deploy/kubernetes/make.py --check   fails if a file differs from its generated text

A Kubernetes policy is a program in CEL. The server limits the cost of one run of the program, so the policy visits each
environment variable of a container only once."""
import sys
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
WORKLOADS = {"pod-template": ("apps/v1", "Deployment", "spec.template.spec"), "pod": ("v1", "Pod", "spec"),
             "cronjob": ("batch/v1", "CronJob", "spec.jobTemplate.spec.template.spec")}
TARGETS = {kind: "spec.template.spec" for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job")} | {
    "CronJob": "spec.jobTemplate.spec.template.spec", "Pod": "spec"}
EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
LIST = "Object.spec.initContainers"


class Source:
    """sidecar.yaml: the text of the container and the volumes, and their parsed values."""

    def __init__(self):
        text = (HERE / "sidecar.yaml").read_text(encoding="utf-8")
        config_map, deployment = yaml.safe_load_all(text)
        self.configuration = config_map["data"]["reprise.yaml"]
        pod = deployment["spec"]["template"]["spec"]
        self.container = pod["initContainers"][0]
        self.volumes = pod["volumes"]
        self.environment = {entry["name"]: entry["value"] for entry in pod["containers"][0]["env"]}
        self.container_text = self._lines(text, "        - name: reprise\n", "      containers:\n")
        self.volumes_text = self._lines(text, "        - name: reprise-config\n", None)

    @staticmethod
    def _lines(text, first, behind):
        """Returns the lines from `first` up to, but not including, `behind`. Removes their indentation."""
        begin = text.index(first)
        end = len(text) if behind is None else text.index(behind, begin)
        return [line[8:] for line in text[begin:end].splitlines()]


# The kustomize component.

def patch(source, name):
    version, kind, path = WORKLOADS[name]
    lines = [f"# kustomization.yaml adds this to {'every object with a Pod template' if name == 'pod-template' else 'every ' + kind}. The name is ignored.",
             f"apiVersion: {version}", f"kind: {kind}", "metadata:", "  name: any"]
    *folders, last = path.split(".")
    for depth, key in enumerate(folders):
        lines.append("  " * depth + key + ":")
    above, indent = "  " * len(folders), "  " * (len(folders) + 1)
    lines += [above + "metadata:"] if folders else []
    lines += [f"{indent}annotations:", f"{indent}  {EVICT}: {source.volumes[1]['name']}", f"{above}{last}:"]
    lines += [indent + "initContainers:"] + [indent + "  " + line for line in source.container_text]
    lines += [indent + "volumes:"] + [indent + "  " + line for line in source.volumes_text]
    return "\n".join(lines) + "\n"


def environment(source):
    lines = ["# The variables that the replacements put into containers. Only kustomize reads this object; its output does not contain it. An entry",
             "# is replaced as a whole, so that no entry has both a value and a `valueFrom`.",
             "apiVersion: reprise.dev/v1", "kind: Environment", "metadata:", "  name: reprise-environment",
             '  annotations: {config.kubernetes.io/local-config: "true"}', "spec:"]
    lines += [f'  {name}: {{name: {name}, value: "{value}"}}' for name, value in source.environment.items()]
    return "\n".join(lines) + "\n"


def replacements(source):
    lines = ["# One replacement for each variable of a container."]
    for name in source.environment:
        lines += [f"- source: {{kind: Environment, name: reprise-environment, fieldPath: spec.{name}}}", "  targets:"]
        for kind, path in TARGETS.items():
            lines += [f"    - select: {{kind: {kind}}}", "      options: {create: true}",
                      f"      fieldPaths: ['{path}.containers.*.env.[name={name}]']"]
    return "\n".join(lines) + "\n"


# The policy.

def text_of(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"


def literal(value, path):
    """Returns a YAML value as a CEL expression with types. A tuple with one item has a text that is CEL already. A
    field whose value is None is omitted."""
    if isinstance(value, tuple):
        return value[0]
    if isinstance(value, dict):
        fields = ", ".join(f"{key}: {literal(one, path + '.' + key.lstrip('?'))}" for key, one in value.items() if one is not None)
        return f"{path}{{{fields}}}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(one, path) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else text_of(value)


def annotation(name, otherwise):
    return f"variables.annotations[?'reprise.dev/{name}'].orValue({otherwise})"


def sidecar(source, values):
    """Returns the sidecar container as CEL. Annotations of a Pod override some of its values."""
    container = {}
    for key, value in source.container.items():
        if key == "image":
            container["image"] = (annotation("image", values["image"]),)
            container["?imagePullPolicy"] = (values["pull_policy"],)
        elif key == "resources":
            container["?resources"] = ("variables.shares ? optional.none() : optional.of("
                                       f"{LIST}.resources{{requests: variables.requests, limits: variables.limits}})",)
        elif key == "securityContext":
            container[key] = {("?runAsUser" if inner == "runAsUser" else inner): one for inner, one in value.items()}
            container[key]["?runAsUser"] = ("variables.user == 'none' ? optional.none() : optional.of(int(variables.user))",)
        else:
            container[key] = value
    return literal(container, LIST)


def volumes(source):
    config, replay = source.volumes
    path = "Object.spec.volumes"
    return [literal({
        "name": config["name"],
        "?configMap": (f"variables.configMap == '' ? optional.none() : optional.of({path}.configMap{{name: variables.configMap}})",),
        "?downwardAPI": (f"variables.configMap != '' ? optional.none() : optional.of({path}.downwardAPI{{items: [{path}.downwardAPI.items{{"
                         f"path: 'reprise.yaml', fieldRef: {path}.downwardAPI.items.fieldRef{{"
                         "fieldPath: \"metadata.annotations['reprise.dev/config']\"}}]})",)}, path),
            literal(replay, path)]


def environments(key):
    """Returns the patch operations that add the proxy variables to the containers in the list `key`: containers or
    initContainers."""
    containers = "object.spec.containers" if key == "containers" else "object.spec.?initContainers.orValue([])"
    which = "" if key == "containers" else " c.?restartPolicy.orValue('') != 'Always',"
    return f"""{containers}.transformList(i, c,{which}
['/spec/{key}/' + string(i) + '/env'].map(at,
c.?env.orValue([]).transformList(k, e, e.name in ['no_proxy', 'NO_PROXY'] && has(e.value),
JSONPatch{{op: 'replace', path: at + '/' + string(k) + '/value', value: e.value + ',' + variables.direct}}) +
(c.?env.orValue([]).size() > 0 ? [] : [JSONPatch{{op: 'add', path: at, value: []}}]) +
[c.?env.orValue([]).filter(e, e.name in variables.spellings)].map(own,
variables.names.filter(n, !own.exists(e, e.name == n)).map(n,
[own.filter(e, e.name == variables.spellings[n])].map(there,
JSONPatch{{op: 'add', path: at + '/-', value: Object.spec.{key}.env{{
name: n,
?value: there.exists(e, has(e.valueFrom)) ? optional.none() : optional.of(
n in ['no_proxy', 'NO_PROXY'] ? (there.map(e, e.?value.orValue('')) + [variables.direct]).join(',') :
there.size() > 0 ? there[0].?value.orValue('') : variables.values[n]),
?valueFrom: there.size() > 0 ? there[0].?valueFrom : optional.none()
}}}})[0]))[0])[0]).flatten()"""


def operations(source, values):
    """Returns the operations of the JSON patch as CEL: several lists, which the policy concatenates."""
    def add(path, value):
        return f"JSONPatch{{op: 'add', path: {path}, value: {value}}}"

    def at_key(folder, key):
        return f"'/metadata/{folder}/' + jsonpatch.escapeKey('{key}')"

    def made(path, key):
        return f"(object.{path}.?{key}.orValue([]).size() > 0 ? [] : [{add(repr('/' + path.replace('.', '/') + '/' + key), '[]')}])"

    config, replay = volumes(source)
    injected = [
        f"(has(object.metadata.labels) ? [] : [{add(repr('/metadata/labels'), '{}')}])",
        f"[{add(at_key('labels', 'reprise.dev/inject'), repr('true'))},\n"
        + add(at_key("annotations", EVICT), f"(variables.annotations[?'{EVICT}'].hasValue() ?\nvariables.annotations['{EVICT}'] + ',' : '') "
              f"+ '{source.volumes[1]['name']}'") + "]",
        "('reprise.dev/config' in variables.annotations || variables.configMap != '' ? [] :\n"
        f"[{add(at_key('annotations', 'reprise.dev/config'), 'variables.configuration')}])",
        environments("containers"), environments("initContainers"),
        made("spec", "initContainers"), made("spec", "volumes"),
        f"(variables.secret == '' ? [] : {made('spec', 'imagePullSecrets')} +\n"
        f"[{add(repr('/spec/imagePullSecrets/-'), 'Object.spec.imagePullSecrets{name: variables.secret}')}])",
        f"[{add(repr('/spec/initContainers/0'), sidecar(source, values))},\n{add(repr('/spec/volumes/-'), config)},\n"
        f"{add(repr('/spec/volumes/-'), replay)}]",
    ]
    return "\n".join([
        f"(variables.annotations.size() > 0 ? [] : [{add(repr('/metadata/annotations'), '{}')}]) +",
        f"[{add(at_key('annotations', 'reprise.dev/status'), chr(10) + '''variables.obstacle == '' ? 'injected' + variables.notes + variables.empty : 'left alone: ' + variables.obstacle''')}] +",
        "(variables.obstacle != '' ? [] :",
        " +\n".join(injected) + ")"])


def policy(source, values):
    spellings = {name: (name.swapcase() if name.swapcase() in source.environment else "") for name in source.environment}
    spelled = ", ".join(f"'{name}': '{other}'" for name, other in spellings.items())
    valued = ", ".join(f"'{name}': '{value}'" for name, value in source.environment.items() if name.lower() != "no_proxy")
    resources = source.container["resources"]
    variables = [
        ("annotations", "object.metadata.?annotations.orValue({})", None),
        ("obstacle",
         "object.spec.?hostNetwork.orValue(false) ? 'hostNetwork: the ports of reprise would be those of the node' :\n"
         "object.spec.?os.?name.orValue('') == 'windows' || object.spec.?nodeSelector[?'kubernetes.io/os'].orValue('') == 'windows' ?\n"
         "'a Windows Pod' : ''", "The reason why a Pod is left alone. The annotation reprise.dev/status of the Pod has it."),
        ("containers", "object.spec.containers + object.spec.?initContainers.orValue([])", None),
        ("notes",
         "variables.containers.exists(c, c.?envFrom.orValue([]).size() > 0) ?\n"
         "'; envFrom is not read: the variables of reprise override its proxy variables' : ''", "Notes for the author of the Pod, in the same annotation."),
        ("empty",
         "variables.containers.exists(c, c.?env.orValue([]).exists(e,\n"
         "e.name in ['http_proxy', 'HTTP_PROXY'] && !has(e.valueFrom) && e.?value.orValue('') == '')) ?\n"
         "'; an empty http_proxy is kept: that container does not use reprise' : ''", None),
        ("names", "[" + ", ".join(f"'{name}'" for name in source.environment) + "]", "The variables that each container gets, and the other spelling of each."),
        ("spellings", f"{{{spelled}}}", None),
        ("values", f"{{{valued}}}", None),
        ("direct", values["no_proxy"].format(text_of(source.environment["no_proxy"])), None),
        ("guaranteed",
         "variables.containers.all(c, ['cpu', 'memory'].all(n,\n"
         "c.?resources.?limits[?n].hasValue() && c.?resources.?requests[?n].hasValue() &&\n"
         "quantity(string(c.resources.requests[n])).compareTo(quantity(string(c.resources.limits[n]))) == 0))",
         "A Pod whose containers all have limits that equal their requests is Guaranteed, and stays Guaranteed."),
        ("bounds",
         f"{{'cpu': {annotation('cpu-limit', values['cpu_limit'])},\n"
         f"'memory': {annotation('memory-limit', values['memory_limit'].format(text_of(resources['limits']['memory'])))}}}",
         "An empty limit or request means none. A default request is never above the limit; in a Guaranteed Pod it equals the limit."),
        ("limits", "variables.bounds.transformMap(n, v, v != '', v)", None),
        ("asked", f"{{'cpu': {values['cpu_request'].format(text_of(resources['requests']['cpu']))}, "
                  f"'memory': {values['memory_request'].format(text_of(resources['requests']['memory']))}}}", None),
        ("requests",
         "variables.asked.transformMap(n, v, variables.annotations[?'reprise.dev/' + n + '-request'].orValue(\n"
         "variables.guaranteed || v != '' && variables.bounds[n] != '' && quantity(v).isGreaterThan(quantity(variables.bounds[n])) ?\n"
         "variables.bounds[n] : v)).transformMap(n, v, v != '', v)", None),
        ("shares",
         "has(object.spec.resources) && !variables.annotations.exists(k, k.startsWith('reprise.dev/cpu-') || k.startsWith('reprise.dev/memory-'))",
         "The containers of a Pod that has its own resources share them."),
        ("user", annotation("run-as-user", values["user"].format(text_of(str(source.container["securityContext"]["runAsUser"])))), None),
        ("secret", annotation("pull-secret", values["secret"]), None),
        ("configMap", annotation("config-map", values["config_map"]), None),
        ("configuration", values["configuration"].format(text_of(source.configuration)),
         "The configuration of a Pod that does not name one. It becomes an annotation of the Pod, and a file in the container."),
    ]
    lines = ["  variables:"]
    for name, expression, says in variables:
        lines += [f"    # {says}"] if says else []
        lines += [f"    - name: {name}", "      expression: >-"] + ["        " + line for line in expression.splitlines()]
    lines += ["  mutations:", "    - patchType: JSONPatch", "      jsonPatch:", "        expression: >-"]
    lines += ["          " + line for line in operations(source, values).splitlines()]
    return POLICY_HEAD + "\n".join(lines) + "\n"


PLAIN = {"image": None, "pull_policy": "variables.annotations[?'reprise.dev/image-pull-policy']", "no_proxy": "{}",
         "cpu_limit": "variables.guaranteed ? '100m' : ''", "memory_limit": "{}", "cpu_request": "{}", "memory_request": "{}",
         "user": "{}", "secret": "''", "config_map": "''", "configuration": "{}"}
POLICY_HEAD = """kind: MutatingAdmissionPolicy
metadata:
  name: inject.reprise.dev
spec:
  failurePolicy: Fail   # only for Pods that a binding selects
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
      - apiGroups: [""]
        apiVersions: [v1]
        operations: [CREATE]
        resources: [pods]
  matchConditions:
    - name: is-not-refused
      expression: >-
        object.metadata.?labels[?'reprise.dev/inject'].orValue('') != 'false' &&
        object.metadata.?annotations[?'reprise.dev/inject'].orValue('') != 'false'
    - name: has-no-reprise-yet
      expression: >-
        !object.spec.containers.exists(c, c.name == 'reprise') &&
        !object.spec.?initContainers.orValue([]).exists(c, c.name == 'reprise')
"""
BINDINGS = """---
# Pods with the label.
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: inject.reprise.dev
spec:
  policyName: inject.reprise.dev
  matchResources:
    objectSelector:
      matchLabels: {reprise.dev/inject: "true"}
---
# Pods without the label, in namespaces with the label.
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: namespaces.inject.reprise.dev
spec:
  policyName: inject.reprise.dev
  matchResources:
    namespaceSelector:
      matchLabels: {reprise.dev/inject: "true"}
    objectSelector:
      matchExpressions:
        - {key: reprise.dev/inject, operator: NotIn, values: ["true", "false"]}
"""
POLICY_COMMENT = """# Adds reprise to new Pods without a webhook server: to each Pod with the label reprise.dev/inject: "true", and to the Pods of a namespace
# with that label, except Pods with the value "false". Annotations of a Pod override the defaults: see README.md. The API is v1 from
# Kubernetes 1.36. On 1.34 and 1.35 write v1beta1, and enable the feature gate MutatingAdmissionPolicy. Written by make.py.
apiVersion: admissionregistration.k8s.io/v1
"""
CHART_COMMENT = """{{/* Written by deploy/kubernetes/make.py: the policy, with values.yaml in place of the defaults. */ -}}
apiVersion: {{ include "reprise.admission" . }}
"""


def quoted(value):
    """Returns a template that inserts a value of the Helm chart as a CEL string."""
    return '{{ include "reprise.cel" (' + value + ") }}"


def limit(name, guaranteed):
    """Returns CEL for the limit of one resource. If the chart's value is empty, only a Guaranteed Pod gets the limit
    `guaranteed`."""
    value = quoted(f".Values.resources.limits.{name}")
    return f"{value} != '' ? {value} : variables.guaranteed ? {guaranteed} : ''"


CHART = {
    "image": quoted('printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion)'),
    "pull_policy": "optional.of(variables.annotations[?'reprise.dev/image-pull-policy'].orValue(" + quoted(".Values.image.pullPolicy") + "))",
    "no_proxy": "{} + " + quoted('ternary "" (printf ",%s" (join "," .Values.noProxy)) (empty .Values.noProxy)'),
    "cpu_limit": limit("cpu", "'100m'"), "memory_limit": limit("memory", "{}"), "cpu_request": quoted(".Values.resources.requests.cpu"),
    "memory_request": quoted(".Values.resources.requests.memory"), "user": quoted(".Values.runAsUser"),
    "secret": quoted(".Values.image.pullSecret"), "config_map": "'reprise.dev/config' in variables.annotations ? '' : " + quoted(".Values.configMap"),
    "configuration": quoted('.Values.configuration | default (.Files.Get "reprise.yaml")'),
}


def files():
    source = Source()
    plain = PLAIN | {"image": text_of(source.container["image"])}
    # Escapes the braces of the chart, so that str.format replaces only `{}` by the default.
    chart = {key: value.replace("{}", "\0").replace("{", "{{").replace("}", "}}").replace("\0", "{}") for key, value in CHART.items()}
    chart |= {key: CHART[key] for key in ("image", "pull_policy", "secret", "cpu_limit", "config_map")}
    made = {f"component/{name}.yaml": patch(source, name) for name in WORKLOADS}
    made["component/environment.yaml"] = environment(source)
    made["component/replacements.yaml"] = replacements(source)
    made["component/reprise.yaml"] = source.configuration
    made["policy.yaml"] = POLICY_COMMENT + policy(source, plain) + BINDINGS
    made["chart/templates/policy.yaml"] = CHART_COMMENT + policy(source, chart) + BINDINGS.replace(
        "apiVersion: admissionregistration.k8s.io/v1", 'apiVersion: {{ include "reprise.admission" . }}')
    made["chart/reprise.yaml"] = source.configuration
    return made


def main():
    wrong = []
    for name, text in files().items():
        file = HERE / name
        if "--check" not in sys.argv[1:]:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            wrong.append(f"{file.relative_to(HERE.parent.parent)} is not what make.py writes: run it")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
