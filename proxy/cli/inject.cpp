#include "proxy/inject/inject.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "proxy/cli/commands.hpp"

namespace reprise::cli {
namespace {

struct InjectArguments {
  std::string file;
  inject::Sidecar sidecar{"reprise:" REPRISE_VERSION, "reprise"};
  bool removes = false;
};

constexpr std::size_t largest_manifest = std::size_t{64} * 1024 * 1024;

/// What the file holds, or nothing, and then it has been said why.
std::optional<std::string> contents(const std::string& path) {
  errno = 0;
  std::ifstream opened;
  if (path != "-") opened.open(path, std::ios::binary);
  std::istream& file = path == "-" ? std::cin : opened;
  std::string text;
  std::string block(std::size_t{256} * 1024, '\0');
  while (file.good() && text.size() <= largest_manifest) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(file.gcount()));
  }
  // A folder can be opened, and fails when it is read.
  if (errno != 0 || !file.eof() || text.size() > largest_manifest) {
    const std::string why = text.size() > largest_manifest
                                ? "it is larger than 64 MiB"
                                : std::generic_category().message(errno == 0 ? EIO : errno);
    std::fprintf(stderr, "reprise inject: cannot read %s: %s; name a manifest, or - for standard input\n",
                 path.c_str(), why.c_str());
    return std::nullopt;
  }
  return text;
}

void tell(const std::string& path, const inject::Remark& remark, const char* severity) {
  std::fprintf(stderr, "%s:%zu:%zu: %s: document %zu: %s\n", path.c_str(), remark.line, remark.column,
               severity, remark.document, remark.message.c_str());
}

/// Prints what a file has become, or why it has not.
template <typename Done>
int print(const std::string& path, const std::variant<Done, inject::Remark>& outcome, const char* unchanged) {
  if (const auto* refused = std::get_if<inject::Remark>(&outcome)) {
    tell(path, *refused, "error");
    return exit_runtime;
  }
  const Done& done = std::get<Done>(outcome);
  if (std::fwrite(done.text.data(), 1, done.text.size(), stdout) != done.text.size() ||
      std::fflush(stdout) != 0) {
    std::fprintf(stderr, "reprise inject: cannot write: %s\n",
                 std::generic_category().message(errno).c_str());
    return exit_runtime;
  }
  for (const inject::Remark& remark : done.remarks) tell(path, remark, "warning");
  if (unchanged != nullptr)
    std::fprintf(stderr, "%s: note: %s: nothing was changed\n", path.c_str(), unchanged);
  return exit_ok;
}

int inject_file(const InjectArguments& given) {
  const std::optional<std::string> text = contents(given.file);
  if (!text) return exit_runtime;
  if (given.removes) {
    const auto outcome = inject::remove(*text);
    const auto* done = std::get_if<inject::Removed>(&outcome);
    const bool none = done != nullptr && done->pods == 0;
    return print(given.file, outcome, none ? "no pod has a sidecar of `reprise inject`" : nullptr);
  }
  const auto outcome = inject::inject(*text, given.sidecar);
  const auto* done = std::get_if<inject::Injected>(&outcome);
  const bool none = done != nullptr && done->pods + done->already == 0;
  return print(given.file, outcome, none ? "no workload is in it" : nullptr);
}

}  // namespace

void add_inject(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("inject", "put reprise into the pods of a Kubernetes manifest; prints the result");
  const auto given = std::make_shared<InjectArguments>();
  command
      ->add_option("-f,--file,file", given->file,
                   "the manifest, of any number of documents; - is standard input")
      ->required();
  CLI::Option* image =
      command->add_option("--image", given->sidecar.image, "the image of reprise")->capture_default_str();
  CLI::Option* config_map = command
                                ->add_option("--config-map", given->sidecar.config_map,
                                             "the ConfigMap whose key reprise.yaml is the configuration")
                                ->capture_default_str();
  command
      ->add_flag("--remove", given->removes,
                 "take the sidecar, its volumes and the proxy variables out again; other sidecars stay")
      ->excludes(image)
      ->excludes(config_map);
  command->footer("reprise inject -f app.yaml | kubectl apply -f -");
  command->callback([given, &code] { code = inject_file(*given); });
}

}  // namespace reprise::cli
