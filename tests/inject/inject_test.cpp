#include "proxy/tools/inject/inject.hpp"

#include <gtest/gtest.h>

#include <string>

#include "proxy/tools/inject/documents.hpp"
#include "proxy/tools/inject/manifest.hpp"
#include "tests/inject/manifests.hpp"

namespace reprise::tools {
namespace {

TEST(inject, injected_workloads_match_the_golden_file) {
  EXPECT_EQ(injected(golden("workloads.yaml")), golden("workloads.injected.yaml"));
}

TEST(inject, second_injection_changes_nothing) {
  const std::string once = golden("workloads.injected.yaml");
  EXPECT_EQ(injected(once), once);
}

TEST(remove, removal_restores_the_golden_file_byte_for_byte) {
  EXPECT_EQ(removed(golden("workloads.injected.yaml")), golden("workloads.yaml"));
  EXPECT_EQ(removed(golden("workloads.yaml")), golden("workloads.yaml")) << "again changes nothing";
}

TEST(remove, removal_restores_every_yaml_style_byte_for_byte) {
  const std::string image = "  containers:\n  - name: a\n    image: x\n";
  for (
      const std::string& text : {
          pod("  containers:\n  - name: a\n"),
          pod("  containers: [{name: a}]\n"),
          pod("  containers: [ { name: a , env: [ ] } ]\n"),
          pod("  containers:\n  - name: a\n    env:\n"),
          pod("  containers:\n  - name: a\n    env: ~   # nothing\n    image: x\n"),
          pod("  containers:\n  - name: a\n    env:   null\n"),
          pod("  containers:\n  - name: a\n    env: []\n"),
          pod("  containers:\n  - name: a\n    env:\n    - name: NO_PROXY\n      value: b, c  # why\n"),
          pod("  containers:\n  - name: a\n    env:\n    - name: NO_PROXY\n    - name: HTTP_PROXY\n      "
              "value: ~\n"),
          pod("  containers:\n  - name: a\n    env: [{name: HTTP_PROXY, value: 'http://u:it''s@corp'}, "
              "{name: B}]\n"),
          pod("  containers:\n  - name: a\n    env: [{name: NODE_USE_ENV_PROXY, value: '1'}]\n"),
          pod("  containers:\n  - name: a\n    env:\n    - {name: JAVA_TOOL_OPTIONS, value: -Xmx1g}\n"),
          pod("  initContainers:\n  volumes: ~\n" + image),
          pod("  initContainers: []\n  volumes: [ ]\n" + image),
          pod("  volumes:\n    -\n      name: v\n      emptyDir: {}\n" + image + "    # the end\n"),
          pod("  # above\n" + image + "  restartPolicy: Never\n"),
          std::string("kind: Pod\r\nspec:\r\n  containers:\r\n  - name: a\r\n    image: x\r\n"),
          std::string("\xEF\xBB\xBFkind: Pod\nspec:\n  containers:\n  - name: a"),
          std::string(
              R"({"kind": "Pod", "spec": {"containers": [{"name": "a", "env": [{"name": "A", "value": "}]"}]}]}})"),
          std::string("{\n  \"kind\": \"Pod\",\n  \"spec\": {\n    \"containers\": [\n      {\n        "
                      "\"name\": \"a\",\n"
                      "        \"env\": [\n          {\n            \"name\": \"A\"\n          }\n        "
                      "]\n      }\n    ]\n  }\n}\n"),
          pod("  containers:\n  - name: a\n    env:\n    - name: A\n      value: |\n        x\n        # of "
              "the script\n\n    # of the next\n    image: x\n"),
          pod("  containers:\n  - name: a\n    env: [{name: A},  # one\n      {name: B},   # two\n    ]\n"),
          pod("  containers:\n  - name: a\n    env:\n      - name: A\n        value: it's\n      -\n        "
              "name: B\n  volumes:\n  - name: v\n"),
          std::string(
              "kind: Pod\nspec:\n  containers:\n  - name: a\n    env:\n    - name: A\n      value: \"1\""),
          std::string("kind: Pod\r\nspec:\r\n  containers:\r\n  - name: a\r\n    env:\r\n    - name: A"),
          std::string("kind: Pod\nspec:\n  containers:\n  - name: a\n    env:\n    - &x {name: A}\n    - "
                      "name: B\n  - name: b\n    env:\n    - *x\n    - name: B\n"),
          std::string("kind: Pod\nmetadata: {}\nspec: {containers: [{name: a}]}\n"),
          std::string("kind: Pod\nmetadata: ~   # nothing\nspec: {containers: [{name: a}]}\n"),
          std::string("kind: Pod\nmetadata: {name: a, annotations: {}}\nspec: {containers: [{name: a}]}\n"),
          std::string("kind: Pod\nmetadata:\n  name: a\n  annotations:\nspec: {containers: [{name: a}]}\n"),
          std::string("kind: Pod\nmetadata:\n  annotations:\n    a: b   # c\n  name: a\nspec: {containers: "
                      "[{name: a}]}\n"),
          std::string("kind: Pod\nmetadata:\n  name: a\n  annotations: "
                      "{cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: 'tmp'}\nspec: "
                      "{containers: [{name: a}]}\n"),
          std::string("kind: Pod\nmetadata:\n  name: a\n  annotations: "
                      "{cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes: reprise-replay}\nspec: "
                      "{containers: [{name: a}]}\n"),
          std::string(
              "kind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n"),
          std::string("kind: Pod\nspec:\n  initContainers: &all\n  - name: i\n    env: &env [{name: A}]\n"
                      "  containers:\n  - name: a\n    env: *env\n"),
      }) {
    const std::string once = injected(text);
    EXPECT_NE(once, text) << text;
    EXPECT_EQ(removed(once), text) << once;
    EXPECT_EQ(injected(removed(once)), once);
    const std::string rich = injected(text, everything());
    EXPECT_EQ(removed(rich), text) << rich;
    EXPECT_EQ(injected(rich, everything()), rich);
  }
}

TEST(remove, removal_keeps_sidecars_of_other_programs_and_later_changes) {
  const std::string foreign =
      pod("  initContainers:\n  - name: reprise\n    image: somebody/else\n  containers:\n  - name: a\n");
  const auto outcome = remove(foreign);
  EXPECT_EQ(std::get<Removed>(outcome).text, foreign);
  ASSERT_EQ(std::get<Removed>(outcome).remarks.size(), 1U);
  EXPECT_NE(std::get<Removed>(outcome).remarks[0].message.find("left unchanged"), std::string::npos);
  const std::string mesh =
      pod("  initContainers:\n  - name: mesh\n    restartPolicy: Always\n    env:\n    - {name: http_proxy, "
          "value: own}\n"
          "  containers:\n  - name: a\n");
  EXPECT_EQ(removed(injected(mesh)), mesh);
  std::string later = injected(pod("  containers:\n  - name: a\n    image: x:1\n"));
  later.replace(later.find("x:1"), 3, "x:2");
  EXPECT_EQ(removed(later), pod("  containers:\n  - name: a\n    image: x:2\n"));
}

TEST(remove, undo_record_is_written_only_if_the_removal_needs_it_to_restore_the_manifest) {
  EXPECT_EQ(injected(pod("  containers:\n  - name: a\n")).find("INJECT_UNDO"), std::string::npos);
  const std::string text =
      injected(pod("  containers:\n  - name: a\n    env: [{name: NO_PROXY, value: 'x'}]\n"));
  EXPECT_NE(text.find("INJECT_UNDO"), std::string::npos) << text;
}

TEST(remove, removal_reports_the_same_errors_as_injection) {
  for (const std::string text :
       {"a: [\n", "words\n", "kind: Pod\nspec: {}\n", "kind: Pod\nspec:\n\tcontainers:\n"})
    EXPECT_EQ(removed(text), injected(text));
}

TEST(inject, every_workload_kind_is_injected_and_no_other_object) {
  const std::string in_template = "spec: {template: {spec: {containers: [{name: a}]}}}\n";
  const std::string in_job = "spec: {jobTemplate: {" + in_template.substr(0, in_template.size() - 1) + "}}\n";
  const std::string in_pod = "spec: {containers: [{name: a}]}\n";
  for (const auto& [head, spec, is_workload] :
       {std::tuple("apiVersion: v1\nkind: Pod\n", in_pod, true),
        std::tuple("apiVersion: v1\nkind: ReplicationController\n", in_template, true),
        std::tuple("apiVersion: apps/v1\nkind: Deployment\n", in_template, true),
        std::tuple("apiVersion: extensions/v1beta1\nkind: Deployment\n", in_template, true),
        std::tuple("apiVersion: apps/v1\nkind: StatefulSet\n", in_template, true),
        std::tuple("apiVersion: apps/v1\nkind: DaemonSet\n", in_template, true),
        std::tuple("apiVersion: apps/v1\nkind: ReplicaSet\n", in_template, true),
        std::tuple("apiVersion: batch/v1\nkind: Job\n", in_template, true),
        std::tuple("apiVersion: batch/v1\nkind: CronJob\n", in_job, true),
        std::tuple("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n", in_template, false),
        std::tuple("apiVersion: example.com/v1\nkind: Pod\n", in_pod, false),
        std::tuple("apiVersion: v1\nkind: PodTemplate\n",
                   std::string("template: {spec: {containers: [{name: a}]}}\n"), true),
        std::tuple("apiVersion: argoproj.io/v1alpha1\nkind: Rollout\n", in_template, true),
        std::tuple("apiVersion: argoproj.io/v1alpha1\nkind: Rollout\n",
                   std::string("spec: {workloadRef: {kind: Deployment, name: a}}\n"), false),
        std::tuple("apiVersion: apps.openshift.io/v1\nkind: DeploymentConfig\n", in_template, true)}) {
    const std::string text = head + spec;
    const std::string result = injected(text);
    EXPECT_EQ(result != text, is_workload) << text;
    EXPECT_EQ(count(result, "{\"name\": \"reprise\", "), is_workload ? 1U : 0U) << result;
  }
}

TEST(inject, values_of_both_spellings_of_no_proxy_are_merged_and_every_variable_is_set_once) {
  const std::string text = injected(pod(
      "  containers:\n  - name: a\n    env:\n    - {name: no_proxy, value: \"a,b\"}\n"
      "    - name: NO_PROXY\n      value: b, c  # why\n    - {name: http_proxy, value: http://corp:3128}\n"));
  const std::string direct =
      "[a,b,c,localhost,127.0.0.1,::1,kubernetes.default.svc,$(KUBERNETES_SERVICE_HOST),"
      "169.254.169.254,169.254.170.2,169.254.170.23,fd00:ec2::254,100.100.100.200,192.0.0.192,metadata."
      "google.internal]";
  EXPECT_EQ(value_of(text, "no_proxy"), direct);
  EXPECT_EQ(value_of(text, "NO_PROXY"), direct);
  for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"})
    EXPECT_EQ(value_of(text, name), "[http://127.0.0.1:3128]") << name;
  EXPECT_NE(text.find("  # why\n"), std::string::npos);
}

TEST(inject, existing_proxy_variable_is_replaced_and_reported_without_its_password) {
  const auto outcome = inject(
      pod("  containers:\n  - name: a\n    env: [{name: HTTP_PROXY, value: 'http://u:secret@corp'}]\n"),
      none_given, "0.1.0");
  const auto& done = std::get<Injected>(outcome);
  ASSERT_EQ(done.remarks.size(), 1U);
  EXPECT_EQ(done.remarks[0].line, 6U);
  EXPECT_NE(done.remarks[0].message.find("parent"), std::string::npos);
  EXPECT_EQ(done.remarks[0].message.find("secret"), std::string::npos);
  EXPECT_EQ(value_of(done.text, "HTTP_PROXY"), "[http://127.0.0.1:3128]");
}

TEST(inject, no_proxy_value_from_a_reference_stays_and_is_copied_to_the_other_spelling) {
  const std::string text =
      injected(pod("  containers:\n  - name: a\n    env:\n    - name: NO_PROXY\n      valueFrom:\n"
                   "        configMapKeyRef: {name: net, key: direct}\n"));
  EXPECT_EQ(value_of(text, "NO_PROXY"), "[from]");
  EXPECT_EQ(value_of(text, "no_proxy"), "[from]");
}

TEST(inject, java_options_are_extended_but_never_created) {
  EXPECT_EQ(value_of(injected(pod("  containers:\n  - name: a\n")), "JAVA_TOOL_OPTIONS"), "");
  const std::string text =
      injected(pod("  containers:\n  - name: a\n    env: [{name: JAVA_TOOL_OPTIONS, value: -Xmx1g}]\n"));
  EXPECT_EQ(value_of(text, "JAVA_TOOL_OPTIONS").substr(0, 30), "[-Xmx1g -Dhttp.proxyHost=127.0");
}

TEST(inject, empty_env_in_any_yaml_notation_is_filled) {
  for (const char* env :
       {"env: null", "env:", "env: ~", "env: []", "env: [ ]", "env:   # none", "\"env\": null"}) {
    const std::string text =
        injected(pod("  containers:\n  - name: a\n    " + std::string(env) + "\n    image: x\n"));
    EXPECT_EQ(value_of(text, "http_proxy"), "[http://127.0.0.1:3128]") << env << "\n" << text;
    EXPECT_EQ(count(text.substr(text.find("  containers:")), "env"), 1U) << text;
  }
  const std::string bare = injected(
      pod("  containers:\n  - name: a\n    env: [{name: http_proxy}, {name: HTTP_PROXY, value: }]\n"));
  EXPECT_EQ(value_of(bare, "http_proxy"), "[http://127.0.0.1:3128]") << bare;
  EXPECT_EQ(value_of(bare, "HTTP_PROXY"), "[http://127.0.0.1:3128]") << bare;
}

TEST(inject, crlf_and_byte_order_mark_and_missing_final_newline_are_preserved) {
  std::string text = "\xEF\xBB\xBF" + pod("  containers:\n  - name: a\n    image: x");
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 2))
    text.replace(at, 1, "\r\n");
  const std::string result = injected(text);
  EXPECT_TRUE(
      result.starts_with("\xEF\xBB\xBF"
                         "apiVersion: v1\r\n"))
      << result;
  EXPECT_TRUE(result.ends_with("    image: x")) << result;
  EXPECT_EQ(count(result, "\n"), count(result, "\r\n"));
  EXPECT_EQ(value_of(result, "no_proxy").substr(0, 10), "[localhost");
}

TEST(inject, json_input_gives_json_output) {
  const std::string result = injected(
      "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\n\t\"containers\": [{\"name\": \"a\"}]}}");
  EXPECT_EQ(value_of(result, "http_proxy"), "[http://127.0.0.1:3128]");
  EXPECT_EQ(result.find("{name"), std::string::npos);
}

TEST(inject, yaml_anchor_is_edited_once_if_all_uses_need_the_same_change) {
  const std::string result =
      injected(pod("  containers:\n  - &base\n    name: a\n    env: &env\n    - {name: A, value: \"1\"}\n"
                   "  - name: b\n    env: *env\n  - <<: *base\n    name: c\n"));
  for (const std::size_t container : {0U, 1U, 2U})
    EXPECT_EQ(value_of(result, "http_proxy", container), "[http://127.0.0.1:3128]") << result;
  EXPECT_EQ(count(result, "name: http_proxy"), 1U);
}

TEST(inject, yaml_anchor_shared_with_unrelated_uses_is_rejected) {
  // Both manifests share a value through a YAML anchor. In the first, an edit of that value would also give
  // the proxy variables to the sidecar `mesh`. In the second, the edit would also change the variable A.
  const Remark shared = refusal(pod(
      "  initContainers:\n  - name: mesh\n    restartPolicy: Always\n    env: &env [{name: A, value: b}]\n"
      "  containers:\n  - name: a\n    env: *env\n"));
  EXPECT_EQ(shared.line, 7U);
  EXPECT_NE(shared.message.find("shared values out"), std::string::npos) << shared.message;
  const Remark value =
      refusal(pod("  containers:\n  - name: a\n    env:\n    - {name: A, value: &v x}\n    - {name: "
                  "NO_PROXY, value: *v}\n"));
  EXPECT_EQ(value.line, 7U);
}

TEST(inject, errors_name_the_document_and_line) {
  const std::string good = pod("  containers: [{name: a}]\n") + "---\n";
  struct Case {
    std::string text;
    std::size_t document, line;
    const char* words;
  };
  for (const Case& one : {
           Case{good + "a: [b\n", 2, 7, "not YAML"},
           Case{good + "a:\n  b: 1\n\tc: 2\n", 2, 8, "a tab"},
           Case{good + "words alone\n", 2, 6, "not a Kubernetes object"},
           Case{good + "- a\n", 2, 6, "not a Kubernetes object"},
           Case{good + "kind: Pod\nspec: {containers: {{ .Values.all }}\n", 2, 8, "render it first"},
           Case{good + "kind: Pod\nspec:\n  containers:\n  - name: {{ .Values.name }}\n", 2, 9,
                "render it first"},
           Case{good + "kind: Pod\nspec:\n  containers:\n  - name: a\n    name: b\n", 2, 10, "twice"},
           Case{good + "kind: Pod\nspec: {containers: []}\n", 2, 7, "missing or empty"},
           Case{good + "kind: Pod\n", 2, 6, "Pod: spec.containers is missing"},
           Case{good + "kind: Job\nspec: {template: {}}\n", 2, 6, "spec.template.spec.containers"},
           Case{good + "kind: Pod\nspec: {containers: [a]}\n", 2, 7, "not a mapping"},
           Case{good + "kind: Pod\nspec: {containers: [{name: a, env: {A: b}}]}\n", 2, 7, "not a list"},
           Case{good + "kind: Pod\nspec: {containers: [{name: a, env: [{name: http_proxy}, {name: "
                       "http_proxy}]}]}\n",
                2, 7, "set twice"},
           Case{good + "kind: Pod\nspec:\n  containers:\n  - name: a\n    env:\n    - name: NO_PROXY\n      "
                       "value: >\n"
                       "        a\n",
                2, 12, "write it on one"},
           Case{good + "kind: Pod\nspec: {containers: [{name: a}], volumes: [{name: reprise-config}]}\n", 2,
                7, "no container reprise"},
           Case{good + "kind: Pod\nspec: &s {containers: *s}\n", 2, 7, "alias is inside"},
           Case{good + "kind: Pod\nspec: *nothing\n", 2, 7, "not YAML"},
           Case{"kind: Pod\n\x01\n", 1, 2, "not UTF-8 text"},
           Case{"kind: \xff\xfe\n", 1, 1, "not UTF-8 text"},
           Case{good + "kind: Pod\nspec:\n  containers:\n  - name: a\n    \r b\n", 2, 10,
                "only a carriage return"},
           Case{std::string("k\0i\0", 4), 1, 1, "not UTF-8 text"},
           Case{"a: " + std::string(200, '[') + std::string(200, ']'), 1, 1, "nested too deeply"},
       }) {
    const Remark refused = refusal(one.text);
    EXPECT_EQ(refused.document, one.document) << one.text << refused.message;
    EXPECT_EQ(refused.line, one.line) << one.text << refused.message;
    EXPECT_NE(refused.message.find(one.words), std::string::npos) << one.text << refused.message;
  }
}

TEST(inject, yaml_aliases_that_expand_exponentially_are_rejected) {
  std::string text = "kind: Pod\nx0: &a0 [1]\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "x" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before + "]\n";
  }
  EXPECT_NE(refusal(text + "spec: {containers: [{name: a}]}\n").message.find("aliases"), std::string::npos);
}

TEST(inject, empty_documents_are_preserved_and_counted_in_error_positions) {
  const std::string workload = pod("  containers: [{name: a}]\n");
  for (const std::string& around :
       {std::string("# a\n---\n"), std::string("---\n---\n"), std::string("\n\n"),
        std::string("%YAML 1.2\n---\n"), std::string("--- # b\nkind: Service\n...\n")}) {
    const std::string result = injected(around + workload + "---\n");
    EXPECT_TRUE(result.starts_with(around)) << result;
    EXPECT_TRUE(result.ends_with("---\n")) << result;
    EXPECT_EQ(count(result, "reprise:0.1.0"), 1U) << result;
  }
  EXPECT_EQ(injected(""), "");
  EXPECT_EQ(injected("# nothing\n"), "# nothing\n");
  EXPECT_EQ(refusal("---\n---\na: [\n").document, 2U);
  EXPECT_EQ(refusal("# a\n---\na: [\n").document, 1U);
}

TEST(inject, pod_with_an_existing_sidecar_is_unchanged) {
  for (const char* list : {"containers: [{name: reprise}]\n",
                           "{initContainers: [{name: reprise}], containers: [{name: a}]}\n"}) {
    const std::string text = "apiVersion: v1\nkind: Pod\nspec:\n  " + std::string(list);
    EXPECT_EQ(injected(text), text);
  }
}

}  // namespace
}  // namespace reprise::tools
