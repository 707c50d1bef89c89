// One scalar against its row of the key table: what is wrong
// with it, and its value as the type that Settings has.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/settings.hpp"
#include "config/yaml/document.hpp"

namespace reprise::config {

/// Why the node's text cannot stand at that key, as one message; nothing if it can.
std::optional<std::string> complaint(const Key&, const Node& scalar);

/// The value to propose in place of a text that the key does not take; empty if there is no proposal.
std::string correction(const Key&, std::string_view text);

/// Position of the text among the words of the key; nothing if it is none of them.
std::optional<std::size_t> word_index(const Key&, std::string_view text);

/// True for the word that may stand in the place of that list.
bool stands_instead(const Key&, const Node&);

/// These leave the target as it is where the node does not fit: `complaint` has reported it.
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
/// The word alone.
void assign(const Key&, const Node&, policy::TlsPolicy&);
/// The word alone; keys switch it on, unless one of them is `enabled`.
void assign(const Key&, const Node&, policy::ResumePolicy&);
void assign(const Key&, const Node&, Endpoint&);
/// The word alone.
void assign(const Key&, const Node&, Admin&);
void assign(const Key&, const Node&, GatewayUpstream&);
void assign(const Key&, const Node&, Parent&);
void assign(const Key&, const Node&, std::optional<Parent>&);
void assign(const Key&, const Node&, std::optional<Collector>&);
void assign(const Key&, const Node&, Deny&);
/// Absent where the word stands in the place of the list.
void assign(const Key&, const Node&, std::optional<PortRanges>&);
void assign(const Key&, const Node&, policy::RetryOn&);
void assign(const Key&, const Node&, policy::Refused&);
void assign(const Key&, const Node&, policy::IdempotencyRule&);
void assign(const Key&, const Node&, std::vector<policy::BodyPredicate>&);
void assign(const Key&, const Node&, policy::HostPattern&);
void assign(const Key&, const Node&, std::vector<policy::HostPattern>&);
void assign(const Key&, const Node&, policy::PathPattern&);
void assign(const Key&, const Node&, std::vector<std::string>&);
void assign(const Key&, const Node&, std::vector<policy::Condition>&);

/// The words of the key are in the order of the enumerators.
template <typename Enum>
requires std::is_enum_v<Enum>
void assign(const Key& key, const Node& node, Enum& target) {
  if (const auto index = word_index(key, node.text)) target = static_cast<Enum>(*index);
}

}  // namespace reprise::config
