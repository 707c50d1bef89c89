// Checks one scalar against the row of its key in the key table, and converts the scalar to its type in
// Settings.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Returns the error message if the node's text is invalid for that key; nothing if it is valid.
std::optional<std::string> complaint(const Key&, const Node& scalar);

/// Suggests a value in place of an invalid text; empty if there is no suggestion.
std::string correction(const Key&, std::string_view text);

/// Returns the index of the text in the words of the key; nothing if the key has no such word.
std::optional<std::size_t> word_index(const Key&, std::string_view text);

/// Returns true if the node is the word that may replace the list of the key (`Key::instead`).
bool is_alternative_word(const Key&, const Node&);

/// Each overload of `assign` converts the node and stores the value in its last argument. Ignores an invalid
/// node, for which `complaint` returns a message.
void assign(const Key&, const Node&, bool&);
void assign(const Key&, const Node&, Duration&);
void assign(const Key&, const Node&, double&);
void assign(const Key&, const Node&, std::string&);
void assign(const Key&, const Node&, unsigned&);
void assign(const Key&, const Node&, std::size_t&);
void assign(const Key&, const Node&, std::optional<Duration>&);
void assign(const Key&, const Node&, std::optional<unsigned>&);
void assign(const Key&, const Node&, std::optional<std::uint16_t>&);
void assign(const Key&, const Node&, std::optional<std::string>&);
/// Assigns only a word that replaces the section `tls`. The keys of the section are assigned one by one.
void assign(const Key&, const Node&, policy::TlsPolicy&);
/// Assigns only `enabled`: from a word that replaces the section, or true if the section is a mapping without
/// the key `enabled`.
void assign(const Key&, const Node&, policy::ResumePolicy&);
void assign(const Key&, const Node&, Endpoint&);
/// Assigns only a scalar that replaces the section `admin`. The keys of the section are assigned one by one.
void assign(const Key&, const Node&, Admin&);
void assign(const Key&, const Node&, GatewayUpstream&);
void assign(const Key&, const Node&, Parent&);
void assign(const Key&, const Node&, std::optional<Parent>&);
void assign(const Key&, const Node&, std::optional<Collector>&);
void assign(const Key&, const Node&, Deny&);
/// Assigns a list of port ranges. Resets the optional if the value is the word that replaces the list
/// (`Key::instead`).
void assign(const Key&, const Node&, std::optional<PortRanges>&);
void assign(const Key&, const Node&, policy::RetryOn&);
void assign(const Key&, const Node&, policy::Refused&);
void assign(const Key&, const Node&, policy::IdempotencyRule&);
void assign(const Key&, const Node&, std::vector<policy::BodyPredicate>&);
void assign(const Key&, const Node&, policy::HostPattern&);
void assign(const Key&, const Node&, std::vector<policy::HostPattern>&);
void assign(const Key&, const Node&, policy::PathPattern&);
void assign(const Key&, const Node&, std::vector<policy::GrpcPattern>&);
void assign(const Key&, const Node&, std::vector<std::string>&);
void assign(const Key&, const Node&, std::vector<policy::Condition>&);

/// Assigns an enumerator. Precondition: the words of the key are in the order of the enumerators.
template <typename Enum>
requires std::is_enum_v<Enum>
void assign(const Key& key, const Node& node, Enum& target) {
  if (const auto index = word_index(key, node.text)) target = static_cast<Enum>(*index);
}

}  // namespace reprise::config
