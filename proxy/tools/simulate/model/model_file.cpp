#include "proxy/tools/simulate/model/model_file.hpp"

#include <string>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/keys/scalar.hpp"
#include "config/yaml/document.hpp"
#include "proxy/tools/simulate/model/model_keys.hpp"

namespace reprise::tools {
namespace {

using config::Node;

void put(const ModelKey& key, const Node& node, Model& model, config::Report& report) {
  if (node.kind != Node::Kind::scalar) {
    report.error(node.line, node.column, std::string(key.name),
                 "one value is expected: " + std::string(key.sentence));
    return;
  }
  if (const auto wrong = key.put(model, node.text))
    report.error(node.line, node.column, std::string(key.name), config::shown(node) + " " + *wrong);
}

void put_list(const ModelKey& key, const Node& node, Model& model, config::Report& report) {
  key.clear(model);
  if (node.kind == Node::Kind::scalar) return put(key, node, model, report);
  if (node.kind != Node::Kind::list) {
    report.error(node.line, node.column, std::string(key.name),
                 "a list is expected: " + std::string(key.sentence));
    return;
  }
  for (const Node& item : node.items) put(key, item, model, report);
}

std::string unknown(std::string_view word) {
  std::vector<std::string_view> names{"version", "seed"};
  for (const ModelKey& key : model_keys()) names.push_back(key.name);
  const std::string_view meant = config::nearest(word, names);
  std::string message = "unknown key of a model";
  if (!meant.empty()) return message + " (did you mean " + std::string(meant) + "?)";
  message += "; write ";
  return message + config::either(names);
}

void put_seed(const Node& node, Model& model, config::Report& report) {
  const auto parsed = config::parse_whole(node.text);
  if (parsed) {
    model.seed = *parsed.value;
  } else {
    report.error(node.line, node.column, "seed", config::shown(node) + " " + parsed.reason);
  }
}

std::string option_line(const std::string& key, const std::string& text, const std::string& why) {
  return "reprise simulate: --" + key + ": " + config::in_quotes(text) + " " + why;
}

/// Applies the options to the model. Returns the error message for the first invalid option; nothing if all
/// options are valid.
std::optional<std::string> take_options(const ModelArguments& given, Model& model) {
  if (given.seed) {
    const auto parsed = config::parse_whole(*given.seed);
    if (!parsed) return option_line("seed", *given.seed, parsed.reason);
    model.seed = *parsed.value;
  }
  for (const auto& [name, texts] : given.values) {
    const ModelKey* key = find_model_key(name);
    if (key == nullptr || texts.empty()) continue;
    if (key->repeats) key->clear(model);
    for (const std::string& text : texts) {
      if (const auto wrong = key->put(model, text)) return option_line(name, text, *wrong);
    }
  }
  return std::nullopt;
}

}  // namespace

std::variant<Model, ModelFault> model_of(const ModelArguments& given, std::string_view text) {
  Model model;
  if (!given.file.empty()) {
    config::Report report;
    read_model(text, model, report);
    ModelFault fault{{}, true};
    const bool good = !report.has_errors();
    for (const config::Problem& problem : report.take())
      fault.lines.push_back(config::to_line(problem, given.file));
    if (!good) return fault;
  }
  if (const auto wrong = take_options(given, model)) return ModelFault{{*wrong}, false};
  fit_default_outage(model);
  const auto impossible = contradiction(model);
  if (!impossible) return model;
  const auto option = given.values.find(impossible->key);
  const bool in_file = !given.file.empty() && (option == given.values.end() || option->second.empty());
  const std::string where = in_file ? given.file + ": error: " : "reprise simulate: --";
  return ModelFault{{where + impossible->key + ": " + impossible->why}, in_file};
}

void read_model(std::string_view text, Model& model, config::Report& report) {
  const auto root = config::parse_document(text, report);
  if (!root) {
    if (!report.has_errors()) report.error(1, 1, {}, "the file is empty: a model begins with version: 1");
    return;
  }
  if (root->kind != Node::Kind::mapping) {
    report.error(root->line, root->column, {}, "a model is a mapping of keys, such as rate: 500/s");
    return;
  }
  const Node* version = root->find("version");
  if (version == nullptr) report.error(1, 1, {}, "version: 1 is missing: write it at the top of the file");
  if (version != nullptr && version->text != "1")
    report.error(version->line, version->column, "version",
                 "only version 1 is supported: the model may be for a later version of reprise");
  for (const config::Entry& entry : root->entries) {
    if (entry.key == "version") continue;
    const ModelKey* key = find_model_key(entry.key);
    if (entry.key == "seed") {
      put_seed(entry.value, model, report);
    } else if (key == nullptr) {
      report.error(entry.line, entry.column, config::printable(entry.key), unknown(entry.key));
    } else if (key->repeats) {
      put_list(*key, entry.value, model, report);
    } else {
      put(*key, entry.value, model, report);
    }
  }
}

}  // namespace reprise::tools
