#include <cstdio>
#include <string>
#include <string_view>

#include "proxy/command_line/about_itself.hpp"
#include "proxy/command_line/exit_codes.hpp"
#include "proxy/command_line/outline.hpp"

namespace reprise::cli {
namespace {

/// As roff reads it: a backslash and a hyphen are themselves, and no line begins with a request.
std::string roff(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (made.empty() && (c == '.' || c == '\'')) made.append("\\&");
    if (c == '\\') {
      made.append("\\e");
    } else if (c == '-') {
      made.append("\\-");
    } else {
      made.push_back(c);
    }
  }
  return made;
}

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

std::string man_page(const CLI::App& app) {
  std::string text =
      ".TH REPRISE 1 \"\" \"reprise " REPRISE_VERSION
      "\" \"User Commands\"\n"
      ".SH NAME\nreprise \\- an HTTP proxy that retries for applications that cannot\n"
      ".SH SYNOPSIS\n.B reprise\n\\fICOMMAND\\fR [\\fIOPTION\\fR]...\n"
      ".SH DESCRIPTION\nA local HTTP proxy that adds retries, transparently and safely. "
      "It is configured by one YAML file; \\fBreprise config \\-\\-reference\\fR prints every key.\n"
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
  return text +
         ".SH EXIT STATUS\n"
         ".TP\n.B 0\nit went well\n.TP\n.B 1\nit failed while it ran\n.TP\n.B 2\nwrong use\n"
         ".TP\n.B 69\na listener cannot be bound\n.TP\n.B 78\nthe configuration is wrong\n"
         ".PP\n\\fBreprise exec\\fR ends as its command does: 127 where there is none of that name, 126 "
         "where it "
         "cannot be executed, 128 and its number for a signal.\n";
}

}  // namespace

void add_man(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("man", "print the manual page");
  command->footer("reprise man | man -l -");
  command->callback([&app, &code] {
    std::fputs(man_page(app).c_str(), stdout);
    code = exit_ok;
  });
}

}  // namespace reprise::cli
