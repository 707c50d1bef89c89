#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "config/keys/shortcut_table.hpp"
#include "config/reference/reference.hpp"
#include "proxy/cli/commands/commands.hpp"
#include "proxy/cli/line/outline.hpp"
#include "proxy/cli/line/page_tables.hpp"
#include "proxy/cli/line/roff.hpp"

namespace reprise::cli {
namespace {

void add_option(const OptionOutline& option, std::string& text) {
  text.append(".TP\n");
  std::string names;
  for (const std::string& name : option.names)
    names.append(names.empty() ? "" : ", ")
        .append(option.is_positional ? "\\fI" : "\\fB")
        .append(roff(name))
        .append("\\fR");
  if (option.takes_value && !option.is_positional) {
    std::string value = option.choices.empty() ? (option.is_file ? "FILE" : "VALUE") : "";
    for (const std::string& choice : option.choices) value.append(value.empty() ? "" : "|").append(choice);
    names.append(" \\fI").append(roff(value)).append("\\fR");
  }
  text.append(names).append("\n").append(roff(option.description)).append("\n");
}

template <typename Entries>
void add_entries(std::string_view title, const Entries& entries, std::string& text) {
  text.append(".SH ").append(title).append("\n");
  for (const PageEntry& entry : entries)
    text.append(".TP\n.B ").append(roff(entry.name)).append("\n").append(roff(entry.text)).append("\n");
}

// Adds the environment variables of the flags in config::shortcut_table.
void add_shortcut_variables(std::string& text) {
  for (const config::Shortcut& shortcut : config::shortcut_table) {
    text.append(".TP\n.B ").append(config::variable_of(shortcut));
    if (!shortcut.alias.empty()) text.append(", ").append(shortcut.alias);
    text.append("\nRead by run and exec: ").append(roff(shortcut.sentence));
    text.append(". Sets the key ")
        .append(roff(shortcut.path))
        .append(", as \\-\\-")
        .append(roff(shortcut.flag));
    text.append(" does; the file wins over the variable, the flag over both.\n");
  }
}

std::string title_line(std::string_view name, std::string_view section, std::string_view what) {
  std::string line(".TH ");
  line.append(name).append(" ").append(section);
  return line.append(" \"\" \"reprise " REPRISE_VERSION "\" \"").append(what).append("\"\n");
}

std::string man_page(const CLI::App& app) {
  std::string text = title_line("REPRISE", "1", "User Commands") +
                     ".SH NAME\nreprise \\- an HTTP proxy that retries for applications that cannot\n"
                     ".SH SYNOPSIS\n.B reprise\n\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n"
                     ".SH DESCRIPTION\nA local HTTP proxy that adds retries, transparently and safely. "
                     "It is configured by one YAML file, which\n.BR reprise.yaml (5)\ndescribes.\n"
                     ".SH COMMANDS\n";
  for (const CommandOutline& command : outline_of(app)) {
    text.append(".SS reprise ")
        .append(roff(command.name))
        .append("\n")
        .append(roff(command.description))
        .append("\n");
    for (const OptionOutline& option : command.options) add_option(option, text);
    if (!command.example.empty())
      text.append(".PP\nExample:\n.PP\n.nf\n.RS\n").append(roff(command.example)).append("\n.RE\n.fi\n");
  }
  add_entries("EXIT STATUS", exit_status_entries, text);
  text.append(
      ".PP\n\\fBreprise exec\\fR returns the exit code of its command: 127 if the command is not found, 126 "
      "if it cannot be executed, and 128 plus the signal's number if a signal ended it.\n");
  add_entries("ENVIRONMENT", variable_entries, text);
  add_shortcut_variables(text);
  add_entries("FILES", file_entries, text);
  add_entries("SIGNALS", signal_entries, text);
  return text.append(
      ".SH SEE ALSO\n.BR reprise.yaml (5),\n.BR systemd.service (5),\n.BR sd_notify (3)\n.PP\n"
      "\\fBreprise help\\fR \\fICOMMAND\\fR prints the options of one command.\n");
}

std::string file_page() {
  std::string text = title_line("REPRISE.YAML", "5", "File Formats");
  text.append(
      ".SH NAME\nreprise.yaml \\- the configuration of reprise\n"
      ".SH SYNOPSIS\n.B reprise run \\-c\n.I reprise.yaml\n"
      ".SH DESCRIPTION\n");
  text.append(roff_of_markdown(config::reference_markdown()));
  return text.append(
      ".SH FILES\n.TP\n.B /etc/reprise/reprise.yaml\nThe configuration of the packaged service.\n.SH SEE "
      "ALSO\n.BR reprise (1)\n");
}

}  // namespace

void add_man(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("man", "print a manual page: of the program, or of its configuration file");
  const auto page = std::make_shared<std::string>("reprise");
  command->add_option("page", *page, "reprise or reprise.yaml")
      ->check(CLI::IsMember({"reprise", "reprise.yaml"}));
  command->footer("reprise man reprise.yaml | man -l -");
  command->callback([&app, page, &code] {
    std::fputs((*page == "reprise" ? man_page(app) : file_page()).c_str(), stdout);
    code = exit_ok;
  });
}

}  // namespace reprise::cli
