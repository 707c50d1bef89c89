#include "proxy/tools/inject/sidecar.hpp"

#include <variant>

#include "proxy/tools/inject/undo.hpp"

namespace reprise::tools {
namespace {

// The ports and probes must be the same as in deploy/kubernetes/sidecar.yaml; a test compares them.
constexpr std::string_view ports_and_probes = R"(ports:
  - {name: reprise-admin, containerPort: 3129}
startupProbe:
  httpGet: {path: /readyz, port: 3129}
  periodSeconds: 1
  failureThreshold: 60
readinessProbe:
  httpGet: {path: /readyz, port: 3129}
  periodSeconds: 5
livenessProbe:
  httpGet: {path: /livez, port: 3129}
  periodSeconds: 10
  timeoutSeconds: 2
)";
constexpr std::string_view security_begin = R"(securityContext:
  runAsNonRoot: true
)";
constexpr std::string_view security_end = R"(  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
  seccompProfile: {type: RuntimeDefault}
terminationMessagePolicy: FallbackToLogsOnError
volumeMounts:
  - {name: reprise-config, mountPath: /etc/reprise, readOnly: true}
  - {name: reprise-replay, mountPath: /tmp}
)";

/// Returns true if the scalar is also a JSON literal with the same value. YAML has more spellings of booleans
/// and numbers than JSON.
bool is_json_literal(const Node& scalar) {
  if (scalar.is_quoted) return false;
  const std::string& text = scalar.text;
  if (text == "true" || text == "false") return true;
  const std::size_t digits = text.starts_with('-') ? 1 : 0;
  return text.size() > digits && text.size() < 16 && (text[digits] != '0' || text.size() == digits + 1) &&
         text.find_first_not_of("0123456789", digits) == std::string::npos;
}

/// Returns one line of `resources`; empty if there are no quantities.
std::string quantities(std::string_view key, const Resources& resources) {
  std::string text;
  for (const auto& [name, quantity] : resources) {
    // A quantity without a unit is quoted. Otherwise YAML would read it as a number. The API accepts a
    // number, but returns it as a string.
    const bool has_unit = quantity.find_first_of("mKMGTPEk") != std::string::npos;
    text.append(text.empty() ? "" : ", ")
        .append(name)
        .append(": ")
        .append(has_unit ? quantity : json_string(quantity));
  }
  return text.empty() ? text : "  " + std::string(key) + ": {" + text + "}\n";
}

}  // namespace

std::string container_text(const Sidecar& sidecar, const std::string& undo) {
  std::string text = "name: " + std::string(container_name) + "\nimage: " + json_string(sidecar.image) + "\n";
  if (!sidecar.pull_policy.empty()) text += "imagePullPolicy: " + sidecar.pull_policy + "\n";
  text +=
      "restartPolicy: Always\nargs: [run, -c, /etc/reprise/reprise.yaml]\n"
      "env:\n  - {name: REPRISE_CONTROL, value: /tmp/control.sock}\n";
  if (!undo.empty())
    text += "  - {name: " + std::string(undo_variable) + ", value: " + json_string(undo) + "}\n";
  text += ports_and_probes;
  if (!sidecar.requests.empty() || !sidecar.limits.empty())
    text += "resources:\n" + quantities("requests", sidecar.requests) + quantities("limits", sidecar.limits);
  text += security_begin;
  if (sidecar.user != "none") text += "  runAsUser: " + sidecar.user + "\n";
  return text.append(security_end);
}

std::vector<std::string> volume_texts(const Sidecar& sidecar) {
  const std::string source = sidecar.config_map.empty()
                                 ? "downwardAPI:\n  items:\n    - path: reprise.yaml\n      fieldRef: "
                                   "{fieldPath: \"metadata.annotations['" +
                                       std::string(config_key) + "']\"}\n"
                                 : "configMap: {name: " + json_string(sidecar.config_map) + "}\n";
  return {"name: " + std::string(config_volume) + "\n" + source,
          "name: " + std::string(replay_volume) + "\nemptyDir: {sizeLimit: 1500Mi}\n"};
}

std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted.append({'\\', c});
    } else if (byte < 0x20) {
      quoted.append("\\u00").append({digits[byte >> 4U], digits[byte & 0xFU]});
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

std::string as_json(const Node& node) {
  std::string text;
  switch (node.kind) {
    case Node::Kind::nothing: return "null";
    case Node::Kind::scalar: return is_json_literal(node) ? node.text : json_string(node.text);
    case Node::Kind::list:
      for (const Node* item : node.items) text.append(text.empty() ? "" : ", ").append(as_json(*item));
      return "[" + text + "]";
    case Node::Kind::mapping:
      for (const Entry& entry : node.entries)
        text.append(text.empty() ? "" : ", ")
            .append(json_string(entry.key->text) + ": " + as_json(*entry.value));
      return "{" + text + "}";
  }
  return text;
}

std::string as_json(std::string_view yaml) {
  const auto tree = read(yaml);
  return as_json(*std::get<Tree>(tree).root);
}

}  // namespace reprise::tools
