// Fuzz target: inject on arbitrary manifests. The result is valid YAML, or an error with its position. A
// second run changes nothing, and documents that are not workloads stay unchanged byte for byte.
#include <algorithm>
#include <array>
#include <string>

#include "proxy/tools/inject/documents.hpp"
#include "proxy/tools/inject/inject.hpp"
#include "tests/fuzz/input.hpp"

namespace reprise::fuzz {
namespace {

using namespace tools;

/// Returns options that add everything inject can add to a pod.
Options everything() {
  Options options;
  options.image = "reprise:0.1.0-x";
  options.pull_secret = "registry";
  options.config = "version: 1\n# end\n";
  options.limits = {{"cpu", "1"}};
  options.has_label = true;
  options.is_scraped = true;
  return options;
}

// The kinds of manifest that run pods. A list of manifests may contain any of these kinds.
constexpr auto workloads = std::to_array<std::string_view>(
    {"Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob",
     "PodTemplate", "Rollout", "DeploymentConfig"});

bool may_be_a_workload(const Node& root) {
  const std::string_view kind = root.word("kind");
  return kind.ends_with("List") || std::find(workloads.begin(), workloads.end(), kind) != workloads.end();
}

void judge_refusal(const Remark& refused, std::string_view text) {
  const auto lines = static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }));
  law(refused.line >= 1 && refused.column >= 1 && refused.document >= 1, "a refusal has a place");
  law(refused.line <= lines + 2, "which is in the file");
  law(!refused.message.empty(), "and says what is wrong");
}

void judge_document(const Document& before, const Document& after) {
  law(before.number == after.number, "each stays in its place");
  if (before.number == 0) return law(before.text == after.text, "comments before the first stay");
  const auto tree = read(before.text);
  law(std::holds_alternative<Tree>(tree), "what was taken is YAML");
  law(std::holds_alternative<Tree>(read(after.text)), "and what comes out is YAML too");
  const Node* const root = std::get<Tree>(tree).root;
  if (root == nullptr || !may_be_a_workload(*root))
    law(before.text == after.text, "what is no workload stays byte for byte");
}

void judge(std::string_view text, const Options& options) {
  const auto outcome = tools::inject(text, options, "0.1.0");
  if (const auto* refused = std::get_if<Remark>(&outcome)) return judge_refusal(*refused, text);
  const auto& once = std::get<Injected>(outcome);
  law((once.pods == 0) == (once.text == text), "it is changed where a pod is, and only there");
  const auto before = documents_of(text);
  const auto after = documents_of(once.text);
  law(before.size() == after.size(), "as many documents as before");
  for (std::size_t i = 0; i < before.size(); ++i) judge_document(before[i], after[i]);
  const auto again = tools::inject(once.text, options, "0.1.0");
  law(std::holds_alternative<Injected>(again), "what comes out is taken");
  const auto& twice = std::get<Injected>(again);
  law(twice.text == once.text, "twice is the same as once");
  const auto back = tools::remove(once.text);
  // If no pod of the input already had the sidecar, remove() gives the same text for the result of inject()
  // as for the input.
  const auto bare = tools::remove(text);
  if (once.already == 0) law(std::holds_alternative<Removed>(back), "there is a way back");
  if (once.already == 0 && std::holds_alternative<Removed>(bare))
    law(std::get<Removed>(back).text == std::get<Removed>(bare).text, "which ends where it began");
  law(twice.pods == 0 && twice.already == once.pods + once.already, "and every pod is known again");
}

}  // namespace
}  // namespace reprise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto text = reprise::fuzz::Input(bytes, size).rest();
  reprise::fuzz::judge(text, {});
  reprise::fuzz::judge(text, reprise::fuzz::everything());
  return 0;
}
