#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "proxy/tools/inject/inject.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "proxy/tools/inject/options.hpp"
#include "proxy/tools/inject/sidecar.hpp"
#include "tests/inject/manifests.hpp"

namespace reprise::tools {
namespace {

/// Returns the first init container of a pod, which is the sidecar, as JSON.
std::string sidecar_in(const std::string& text) {
  auto tree = read(text);
  if (std::holds_alternative<Fault>(tree)) return "not YAML: " + std::get<Fault>(tree).message;
  const Node* spec = std::get<Tree>(tree).root->find("spec");
  return spec == nullptr ? text : as_json(*spec->find("initContainers")->items[0]);
}

std::string resources_in(const std::string& text) {
  const std::string sidecar = sidecar_in(text);
  const std::size_t at = sidecar.find("\"resources\": ");
  return at == std::string::npos ? "none" : sidecar.substr(at + 13, sidecar.find("}}", at) + 2 - at - 13);
}

std::vector<std::string> messages_of(std::string_view text, const Options& options = {}) {
  const auto outcome = inject(text, options, "0.1.0");
  std::vector<std::string> messages;
  if (const auto* refused = std::get_if<Remark>(&outcome)) return {"error: " + refused->message};
  for (const Remark& one : std::get<Injected>(outcome).remarks)
    messages.push_back((one.is_note ? "note: " : "warning: ") + one.message);
  return messages;
}

const std::string guaranteed =
    "resources: {limits: {cpu: '0.5', memory: 1Gi}, requests: {cpu: 500m, memory: 1024Mi}}";

TEST(resources, sidecar_resources_follow_the_command_line) {
  const std::string bare = pod("  containers: [{name: a}]\n");
  EXPECT_EQ(resources_in(injected(bare)),
            R"({"requests": {"cpu": "20m", "memory": "32Mi"}, "limits": {"memory": "192Mi"}})");
  Options options;
  options.requests = {{"cpu", "2"}};
  options.limits = {{"memory", "16Mi"}, {"ephemeral-storage", "2Gi"}};
  EXPECT_EQ(
      resources_in(injected(bare, options)),
      R"({"requests": {"cpu": "2", "memory": "16Mi"}, "limits": {"ephemeral-storage": "2Gi", "memory": "16Mi"}})")
      << "a request that nobody asked for is not over the limit";
  options.requests = {{"memory", "1Gi"}};
  EXPECT_NE(injected(bare, options).find("would request memory=1Gi, which is more than its limit of 16Mi"),
            std::string::npos);
}

TEST(resources, pod_of_the_qos_class_guaranteed_stays_guaranteed_with_the_sidecar) {
  const std::string both =
      R"({"requests": {"cpu": "100m", "memory": "192Mi"}, "limits": {"cpu": "100m", "memory": "192Mi"}})";
  EXPECT_EQ(resources_in(injected(pod("  containers: [{name: a, " + guaranteed + "}]\n"))), both);
  EXPECT_EQ(
      resources_in(injected(pod("  containers: [{name: a, resources: {limits: {cpu: 1, memory: 1Gi}}}]\n"))),
      both)
      << "a request that is missing is the limit";
  for (const char* const other :
       {"resources: {limits: {cpu: 1}}", "resources: {limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 900m}}"})
    EXPECT_NE(resources_in(
                  injected(pod("  containers: [{name: a, " + guaranteed + "}, {name: b, " + other + "}]\n"))),
              both)
        << other;
  EXPECT_NE(resources_in(injected(
                pod("  initContainers: [{name: i}]\n  containers: [{name: a, " + guaranteed + "}]\n"))),
            both);
  Options options;
  options.limits = {{"cpu", "250m"}};
  EXPECT_EQ(
      resources_in(injected(pod("  containers: [{name: a, " + guaranteed + "}]\n"), options)),
      R"({"requests": {"cpu": "250m", "memory": "192Mi"}, "limits": {"cpu": "250m", "memory": "192Mi"}})");
}

TEST(resources, sidecar_gets_no_resources_if_the_pod_has_pod_level_resources) {
  const std::string text = pod("  resources: {limits: {cpu: 1, memory: 1Gi}}\n  containers: [{name: a}]\n");
  EXPECT_EQ(resources_in(injected(text)), "none");
  Options options;
  options.requests = {{"cpu", "10m"}};
  EXPECT_NE(resources_in(injected(text, options)), "none");
}

TEST(resources, pod_annotations_override_the_command_line) {
  const std::string text =
      "kind: Pod\nmetadata:\n  annotations: {reprise.dev/cpu-limit: 300m, reprise.dev/image: 'x:1', "
      "reprise.dev/run-as-user: none,\n"
      "    reprise.dev/image-pull-policy: Never, reprise.dev/config-map: of-the-pod}\nspec: {containers: "
      "[{name: a}]}\n";
  const std::string result = injected(text, everything());
  EXPECT_EQ(
      resources_in(result),
      R"({"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"cpu": "300m", "memory": "256Mi"}})");
  const std::string sidecar = sidecar_in(result);
  EXPECT_NE(sidecar.find(R"("image": "x:1", "imagePullPolicy": "Never")"), std::string::npos) << sidecar;
  EXPECT_EQ(sidecar.find("runAsUser"), std::string::npos);
  EXPECT_NE(result.find(R"({"name": "of-the-pod"})"), std::string::npos);
  EXPECT_EQ(result.find("reprise.dev/config\""), std::string::npos);
}

TEST(resources, empty_annotation_removes_the_resource_value) {
  const std::string text =
      "kind: Pod\nmetadata: {annotations: {reprise.dev/memory-limit: '', reprise.dev/cpu-request: ''}}\n"
      "spec: {containers: [{name: a}]}\n";
  EXPECT_EQ(resources_in(injected(text)), R"({"requests": {"memory": "32Mi"}})") << injected(text);
}

TEST(options, invalid_options_and_annotations_are_reported) {
  for (const char* const good :
       {"1", "0.5", "100m", "1e3", "1E", "1E3", "192Mi", "2G", "500k", ".5", "+1", "0"})
    EXPECT_EQ(fault_of_quantity(good), std::nullopt) << good;
  for (const char* const wrong :
       {"", "x", "1x", "-1", "1 Gi", "Mi", "1mi", "inf", "nan", "0x10", "1e", "100M i"})
    EXPECT_NE(fault_of_quantity(wrong), std::nullopt) << wrong;
  for (const char* const wrong : {"0", "00", "-1", "root", "", "99999999999"})
    EXPECT_NE(fault_of_user(wrong), std::nullopt) << wrong;
  for (const char* const wrong : {"", "cpu", "cpu=", "gpu=1", "cpu=1,cpu=2", "cpu=1,,memory=1", "cpu:1"})
    EXPECT_TRUE(std::holds_alternative<std::string>(read_resources(wrong))) << wrong;
  const Remark annotation = refusal(
      "kind: Pod\nmetadata:\n  annotations:\n    reprise.dev/memory-limit: much\nspec: {containers: [{name: "
      "a}]}\n");
  EXPECT_EQ(annotation.line, 4U);
  EXPECT_NE(annotation.message.find("'much' is not a Kubernetes quantity"), std::string::npos)
      << annotation.message;
}

TEST(left_alone, skipped_pods_are_reported_with_the_reason) {
  const std::string container = "containers: [{name: a}]";
  struct Case {
    std::string text;
    const char* why;
  };
  for (const Case& one :
       {Case{"kind: Pod\nspec: {hostNetwork: true, " + container + "}\n", "hostNetwork"},
        Case{"kind: Pod\nspec: {os: {name: windows}, " + container + "}\n", "Windows"},
        Case{"kind: Pod\nspec: {nodeSelector: {kubernetes.io/os: windows}, " + container + "}\n", "Windows"},
        Case{"kind: Pod\nmetadata: {labels: {reprise.dev/inject: 'false'}}\nspec: {" + container + "}\n",
             "is \"false\""},
        Case{"kind: Pod\nmetadata: {annotations: {reprise.dev/inject: 'false'}}\nspec: {" + container + "}\n",
             "is \"false\""},
        Case{"kind: Deployment\nmetadata: {annotations: {reprise.dev/inject: 'false'}}\nspec: {template: "
             "{spec: {" +
                 container + "}}}\n",
             "is \"false\""},
        Case{
            "kind: Deployment\nspec: {template: {metadata: {labels: {reprise.dev/inject: 'false'}}, spec: {" +
                container + "}}}\n",
            "is \"false\""},
        Case{"kind: Pod\nspec: {containers: [{name: reprise}]}\n", "did not add"},
        Case{"kind: CloneSet\nspec: {template: {spec: {containers: [{name: a, image: x}]}}}\n",
             "CloneSet is not a known kind of workload, but has spec.template.spec.containers"},
        Case{"kind: List\nitems: [{kind: Pod, spec: {hostNetwork: true, " + container + "}}]\n",
             "hostNetwork"}}) {
    EXPECT_EQ(injected(one.text), one.text);
    const auto messages = messages_of(one.text);
    ASSERT_EQ(messages.size(), 1U) << one.text;
    EXPECT_NE(messages[0].find(one.why), std::string::npos) << messages[0];
    EXPECT_TRUE(messages[0].starts_with("note: ")) << messages[0];
  }
  EXPECT_NE(injected("kind: Pod\nspec: {hostNetwork: false, " + container + "}\n").find("reprise"),
            std::string::npos);
}

TEST(left_alone, objects_without_pods_are_counted_by_kind) {
  const auto outcome = inject(
      "kind: Service\n---\nkind: List\nitems: [{kind: ConfigMap, metadata: {name: c}}, {kind: "
      "Service}]\n---\na: b\n",
      {}, "0.1.0");
  const Injected& done = std::get<Injected>(outcome);
  EXPECT_EQ(done.others, (std::map<std::string, std::size_t>{
                             {"ConfigMap", 1}, {"Service", 2}, {"object without a kind", 1}}));
  EXPECT_TRUE(done.config_maps_there.contains("c"));
}

TEST(environment, added_variables_follow_the_existing_ones) {
  for (const char* const env :
       {"    env:\n    - {name: HOST, value: h}\n", "    env: [{name: HOST, value: h}]\n",
        "    env:\n    - name: HOST\n      value: h\n    # what comes next\n    image: x\n"}) {
    const std::string text = injected(pod("  containers:\n  - name: a\n" + std::string(env)));
    EXPECT_LT(text.find("HOST"), text.find("http_proxy")) << text;
    EXPECT_EQ(value_of(text, "http_proxy"), "[http://127.0.0.1:3128]");
  }
}

TEST(environment, env_from_and_an_empty_proxy_variable_are_reported) {
  const auto from =
      messages_of(pod("  containers:\n  - name: a\n    envFrom: [{configMapRef: {name: net}}]\n"));
  ASSERT_EQ(from.size(), 1U);
  EXPECT_NE(from[0].find("envFrom"), std::string::npos);
  const auto empty =
      messages_of(pod("  containers:\n  - name: a\n    env: [{name: http_proxy, value: ''}]\n"));
  ASSERT_EQ(empty.size(), 1U);
  EXPECT_NE(empty[0].find("means no proxy"), std::string::npos) << empty[0];
}

TEST(metadata, safe_to_evict_annotation_for_the_replay_volume_is_added_or_extended) {
  const std::string key = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes";
  EXPECT_NE(injected(pod("  containers: [{name: a}]\n"))
                .find("metadata:\n  annotations:\n    " + key + ": \"reprise-replay\"\nspec:"),
            std::string::npos);
  const std::string with =
      injected("kind: Pod\nmetadata: {annotations: {" + key + ": 'tmp'}}\nspec: {containers: [{name: a}]}\n");
  EXPECT_NE(with.find(key + ": \"tmp,reprise-replay\""), std::string::npos) << with;
}

TEST(metadata, requested_label_and_prometheus_annotations_never_replace_existing_ones) {
  Options options;
  options.has_label = true;
  options.is_scraped = true;
  const std::string result =
      injected("kind: Pod\nmetadata:\n  name: a\nspec: {containers: [{name: a}]}\n", options);
  for (const char* const line : {"reprise.dev/inject: \"true\"\n", "prometheus.io/scrape: \"true\"\n",
                                 "prometheus.io/port: \"3129\"\n"})
    EXPECT_NE(result.find(line), std::string::npos) << result;
  const std::string own =
      "kind: Pod\nmetadata: {annotations: {prometheus.io/port: '80'}}\nspec: {containers: [{name: a}]}\n";
  const auto messages = messages_of(own, options);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(messages[0].find("prometheus.io/port belongs to the application"), std::string::npos)
      << messages[0];
  EXPECT_EQ(count(injected(own, options), "prometheus.io"), 1U);
}

TEST(metadata, metadata_shared_by_a_yaml_anchor_stays_unchanged_or_is_rejected_if_it_must_change) {
  const std::string text =
      "kind: Deployment\nmetadata: &m {name: a}\nspec: {template: {metadata: *m, spec: {containers: [{name: "
      "a}]}}}\n";
  const auto messages = messages_of(text);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_NE(messages[0].find("share this metadata"), std::string::npos) << messages[0];
  EXPECT_EQ(count(injected(text), "safe-to-evict"), 0U);
  EXPECT_EQ(removed(injected(text)), text);
  EXPECT_TRUE(messages_of(text, everything())[0].starts_with("error: "))
      << messages_of(text, everything())[0];
}

TEST(configuration, configuration_is_stored_in_a_pod_annotation_if_requested) {
  Options options;
  options.config = "version: 1\n# end\n";
  const std::string result =
      injected("kind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - name: a\n", options);
  EXPECT_NE(result.find("    reprise.dev/config: |\n      version: 1\n      # end\n"), std::string::npos)
      << result;
  EXPECT_NE(result.find("metadata.annotations['reprise.dev/config']"), std::string::npos);
  options.config = "version: 1";
  EXPECT_NE(injected(result, options).find("reprise.dev/config: \"version: 1\"\n"), std::string::npos)
      << "another text replaces it";
  const std::string own =
      "kind: Pod\nmetadata: {annotations: {reprise.dev/config: mine}}\nspec: {containers: [{name: a}]}\n";
  EXPECT_EQ(count(injected(own, options), "reprise.dev/config']"), 1U)
      << "the pod's own stays, and is mounted";
  EXPECT_EQ(removed(injected(own)), own);
}

TEST(upgrade, sidecar_of_another_version_is_replaced_and_keeps_its_options) {
  const std::string text = pod("  containers:\n  - name: a\n    env:\n    - {name: A, value: b}\n");
  const std::string old = std::get<Injected>(inject(text, everything(), "0.0.9")).text;
  std::string older = old;
  older.replace(older.find(":0.1.0"), 6, ":0.0.9");
  const std::string result = injected(older);
  EXPECT_EQ(result, injected(text, everything())) << older;
  const auto messages = messages_of(older);
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(messages[0], "note: its sidecar, registry.example:5000/reprise:0.0.9, was replaced");
  EXPECT_EQ(messages_of(result), std::vector<std::string>{"note: left unchanged: it already has reprise"});
}

TEST(upgrade, sidecar_added_by_an_older_version_that_put_its_variables_first_is_recognized) {
  const std::string older =
      pod("  initContainers:\n    - name: reprise\n      image: reprise:0.0.1\n      restartPolicy: Always\n"
          "      volumeMounts: [{name: reprise-config, mountPath: /etc/reprise}]\n"
          "  volumes:\n    - {name: reprise-config, configMap: {name: reprise}}\n    - {name: "
          "reprise-replay, emptyDir: {}}\n"
          "  containers:\n  - name: a\n    env:\n    - {name: http_proxy, value: 'http://127.0.0.1:3128'}\n"
          "    - {name: HTTP_PROXY, value: 'http://127.0.0.1:3128'}\n    - name: A\n      value: b\n");
  const std::string text = pod("  containers:\n  - name: a\n    env:\n    - name: A\n      value: b\n");
  EXPECT_EQ(removed(older), text);
  Options options;
  options.user = "none";  // the older sidecar sets no user
  EXPECT_EQ(injected(older), injected(text, options));
}

TEST(upgrade, sidecar_image_without_a_version_tag_is_not_upgraded) {
  for (const char* const image : {"reprise@sha256:0123", "registry:5000/reprise", "reprise:latest"}) {
    Options options;
    options.image = image;
    const std::string once = injected(pod("  containers: [{name: a}]\n"), options);
    EXPECT_EQ(injected(once), once) << image;
  }
}

TEST(upgrade, requested_options_are_applied_and_manual_changes_kept) {
  std::string text = injected(pod("  containers: [{name: a}]\n"));
  text.replace(text.find("192Mi"), 5, "512Mi");
  text.replace(text.find("periodSeconds: 10"), 17, "periodSeconds: 99");
  EXPECT_EQ(injected(text), text);
  Options options;
  options.requests = {{"cpu", "40m"}};
  EXPECT_EQ(resources_in(injected(text, options)),
            R"({"requests": {"cpu": "40m", "memory": "32Mi"}, "limits": {"memory": "512Mi"}})");
  options.config_map = "other";
  EXPECT_NE(injected(text, options).find("configMap: {name: \"other\"}"), std::string::npos);
}

}  // namespace
}  // namespace reprise::tools
