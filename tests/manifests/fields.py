#!/usr/bin/env python3
"""Checks that Kubernetes manifests use only fields of the Kubernetes API. The known fields are in fields.json.

fields.json is generated from the type declarations of two npm packages: kubernetes-models (Kubernetes) and
@kubernetes-models/prometheus-operator (PodMonitor). Both packages are made from the published OpenAPI schemas. To
generate fields.json again, run:

  npm install --ignore-scripts kubernetes-models@5.1.0 @kubernetes-models/prometheus-operator@6.0.0
  python3 tests/manifests/fields.py --write node_modules
"""
import argparse
import json
import re
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "fields.json"
CORE, OPERATOR = "kubernetes-models", "@kubernetes-models/prometheus-operator"
KINDS = {  # (apiVersion, kind): package and file that declare it
    "v1 ConfigMap": (CORE, "v1/ConfigMap"), "v1 Pod": (CORE, "v1/Pod"), "v1 Service": (CORE, "v1/Service"),
    "apps/v1 Deployment": (CORE, "apps/v1/Deployment"), "apps/v1 StatefulSet": (CORE, "apps/v1/StatefulSet"),
    "apps/v1 DaemonSet": (CORE, "apps/v1/DaemonSet"), "apps/v1 ReplicaSet": (CORE, "apps/v1/ReplicaSet"),
    "batch/v1 Job": (CORE, "batch/v1/Job"), "batch/v1 CronJob": (CORE, "batch/v1/CronJob"),
    "networking.k8s.io/v1 NetworkPolicy": (CORE, "networking.k8s.io/v1/NetworkPolicy"),
    "admissionregistration.k8s.io/v1 MutatingAdmissionPolicy": (CORE, "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"),
    "admissionregistration.k8s.io/v1 MutatingAdmissionPolicyBinding":
        (CORE, "admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding"),
    "monitoring.coreos.com/v1 PodMonitor": (OPERATOR, "monitoring.coreos.com/v1/PodMonitor"),
}
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|[{}<>\[\]|:;?()&,]|-?\d+')


class Declarations:
    """Reads types from .d.ts files. A type is a word (string, number, boolean, anything, =LITERAL, or @NAME of a
    declaration), or a list: ["array", T], ["map", T], ["or", T...], ["object", {FIELD: [T, is required]}]."""

    def __init__(self, modules):
        self.modules, self.found, self.imports = Path(modules), {}, {}

    def declare(self, file, name=None):
        """Adds a type from the file `file`.d.ts to `found`: the type `name`, or the main type of the file. Returns the
        key of the type in `found`."""
        key = file.relative_to(self.modules).as_posix()
        if key in self.found:
            return "@" + key
        self.found[key] = "anything"  # ends the recursion if the type contains itself
        text = re.sub(r"/\*.*?\*/", "", (file.parent / (file.name + ".d.ts")).read_text(encoding="utf-8"), flags=re.S)
        imports = {name.strip(): path for names, path in re.findall(r'import \{([^}]*)\} from "([^"]+)"', text) for name in names.split(",")}
        begin = re.search(r"export interface (\w+)[^{]*(?=\{)|export (?:declare )?type (I\w+) = ", text)
        if begin is None:
            raise SystemExit(f"{file}: no declaration is understood")
        self.found[key] = self.Reader(self, file, imports, TOKEN.findall(text[begin.end():])).type()
        return "@" + key

    class Reader:
        def __init__(self, all_of_them, file, imports, tokens):
            self.all, self.file, self.imports, self.tokens, self.at = all_of_them, file, imports, tokens, 0

        def next(self, wanted=None):
            token = self.tokens[self.at]
            if wanted is not None and token != wanted:
                raise SystemExit(f"{self.file}: {token} in the place of {wanted}: {self.tokens[self.at - 5:self.at + 5]}")
            self.at += 1
            return token

        def sees(self, token):
            return self.at < len(self.tokens) and self.tokens[self.at] == token

        def type(self):
            either = [self.one()]
            while self.sees("|"):
                self.next()
                either.append(self.one())
            either = [one for one in either if one != "null"]
            return either[0] if len(either) == 1 else ["or", *either]

        def one(self):
            token = self.next()
            if token == "{":
                return self.object()
            if token == "(":
                inner = self.type()
                self.next(")")
                return inner
            if token == "Array":
                self.next("<")
                inner = self.type()
                self.next(">")
                return ["array", inner]
            if token.startswith('"'):
                return "=" + json.loads(token)
            if token in ("string", "number", "boolean", "null"):
                return token
            if token in ("unknown", "any", "object"):
                return "anything"
            return self.reference(token)

        def reference(self, name):
            path = self.imports.get(name)
            if path is None:
                raise SystemExit(f"{self.file}: {name} is imported from nowhere")
            path = path.removesuffix(".js")
            return self.all.declare((self.file.parent / path).resolve() if path.startswith(".") else self.all.modules / path)

        def object(self):
            fields, rest = {}, None
            while not self.sees("}"):
                if self.sees("["):
                    while self.next() != "]":
                        pass
                    self.next(":")
                    rest = self.type()
                else:
                    name = self.next()
                    name = json.loads(name) if name.startswith('"') else name
                    required = not self.sees("?")
                    if not required:
                        self.next()
                    self.next(":")
                    fields[name] = [self.type(), required]
                if self.sees(";"):
                    self.next()
            self.next("}")
            return ["map", rest] if rest is not None and not fields else ["object", fields]


def write(modules):
    declarations = Declarations(Path(modules).resolve())
    kinds = {kind: declarations.declare(declarations.modules / package / file) for kind, (package, file) in KINDS.items()}
    lines = [f"  {json.dumps(name)}: {json.dumps(kind)}" for name, kind in sorted(declarations.found.items())]
    TABLE.write_text('{"kinds": ' + json.dumps(kinds, indent=1) + ',\n"types": {\n' + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{len(kinds)} kinds, {len(declarations.found)} types")


class Fields:
    """Checks Kubernetes objects against fields.json. `whole` is false for a patch, which may omit required fields."""

    def __init__(self):
        table = json.loads(TABLE.read_text(encoding="utf-8"))
        self.kinds, self.types = table["kinds"], table["types"]

    def faults(self, thing, whole=True):
        """Returns the faults of an object, each as a text `PATH: FAULT`."""
        if not isinstance(thing, dict):
            return ["no object"]
        if thing.get("kind") == "List":
            return [fault for item in thing["items"] for fault in self.faults(item, whole)]
        kind = f"{thing.get('apiVersion')} {thing.get('kind')}"
        if kind not in self.kinds:
            return [f"{kind} is no kind of the table"]
        return list(self.judge(thing, self.kinds[kind], kind, whole))

    def judge(self, value, kind, path, whole):
        if isinstance(kind, str) and kind.startswith("@"):
            kind = self.types[kind[1:]]
            if isinstance(kind, str) and kind.startswith("@"):
                yield from self.judge(value, kind, path, whole)
                return
        if isinstance(kind, str):
            if not self.is_of(value, kind):
                yield f"{path}: {value!r} is no {kind}"
        elif kind[0] == "or":
            if all(list(self.judge(value, one, path, whole)) for one in kind[1:]):
                yield f"{path}: {value!r} is none of {kind[1:]}"
        elif kind[0] == "array":
            if not isinstance(value, list):
                yield f"{path}: no list"
                return
            for i, item in enumerate(value):
                yield from self.judge(item, kind[1], f"{path}[{i}]", whole)
        elif not isinstance(value, dict):
            yield f"{path}: no mapping"
        elif kind[0] == "map":
            for key, item in value.items():
                yield from self.judge(item, kind[1], f"{path}.{key}", whole)
        else:
            yield from self.judge_object(value, kind[1], path, whole)

    def judge_object(self, value, fields, path, whole):
        for key, item in value.items():
            if key not in fields:
                yield f"{path}.{key}: the API has no such field"
            else:
                yield from self.judge(item, fields[key][0], f"{path}.{key}", whole)
        for key, (_, required) in fields.items():
            if whole and required and key not in value:
                yield f"{path}.{key}: is required"

    @staticmethod
    def is_of(value, kind):
        if kind.startswith("="):
            return value == kind[1:]
        return {"string": isinstance(value, str), "boolean": isinstance(value, bool), "anything": True,
                "number": isinstance(value, (int, float)) and not isinstance(value, bool)}[kind]


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", metavar="NODE_MODULES", required=True)
    write(arguments.parse_args().write)
