#include <string>

#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/commands/demo_upstream.hpp"

namespace reprise::cli {

void add_demo(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("demo", "run a flaky upstream for trying out reprise");
  const CLI::Option* bind =
      command->add_option("--bind", "address and port (default 127.0.0.1:0, a free port)");
  const CLI::Option* script = command->add_option("--script",
                                                  "responses of /flaky?id=ID in order, starting over for "
                                                  "each new ID: statuses or `reset` (default 503,503,200)");
  command->footer("reprise demo --bind 127.0.0.1:8080 --script 503,503,200");
  command->callback([bind, script, &code] {
    DemoOptions options;
    if (bind->count() > 0) options.bind = bind->as<std::string>();
    if (script->count() > 0) options.script = script->as<std::string>();
    code = run_demo(options) ? exit_ok : exit_cannot_bind;
  });
}

}  // namespace reprise::cli
