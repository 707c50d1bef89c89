// Writes values of the settings as YAML that loads to the same values. The inverse of values.hpp.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/keys/keys.hpp"
#include "config/settings.hpp"

namespace reprise::config {

/// Returns the text as a YAML scalar. Adds double quotes if the plain text would be read as something else,
/// for example as `${..}`.
std::string yaml_scalar(std::string_view text);

/// The YAML text of a value. Nothing if the key can be omitted because its absence means the same.
using Rendered = std::optional<std::string>;
Rendered render(const Key&, bool);
Rendered render(const Key&, Duration);
Rendered render(const Key&, double);
Rendered render(const Key&, const std::string&);
Rendered render(const Key&, unsigned);
Rendered render(const Key&, std::size_t);
Rendered render(const Key&, const std::optional<Duration>&);
Rendered render(const Key&, const std::optional<unsigned>&);
Rendered render(const Key&, const std::optional<std::uint16_t>&);
Rendered render(const Key&, const std::optional<std::string>&);
Rendered render(const Key&, const policy::TlsPolicy&);
Rendered render(const Key&, const policy::ResumePolicy&);
Rendered render(const Key&, const Endpoint&);
/// Returns nothing, because each key of the section `admin` is printed separately.
Rendered render(const Key&, const Admin&);
Rendered render(const Key&, const GatewayUpstream&);
/// Returns the parent's value, with `***` for the password.
Rendered render(const Key&, const std::optional<Parent>&);
Rendered render(const Key&, const std::optional<Collector>&);
Rendered render(const Key&, const Deny&);
Rendered render(const Key&, const std::optional<PortRanges>&);
Rendered render(const Key&, const policy::RetryOn&);
Rendered render(const Key&, const policy::Refused&);
Rendered render(const Key&, const policy::IdempotencyRule&);
Rendered render(const Key&, const std::vector<policy::BodyPredicate>&);
Rendered render(const Key&, const policy::HostPattern&);
Rendered render(const Key&, const std::vector<policy::HostPattern>&);
Rendered render(const Key&, const policy::PathPattern&);
Rendered render(const Key&, const std::vector<policy::GrpcPattern>&);
Rendered render(const Key&, const std::vector<std::string>&);
Rendered render(const Key&, const std::vector<policy::Condition>&);

template <typename Enum>
requires std::is_enum_v<Enum> Rendered render(const Key& key, Enum value) {
  return std::string(split_words(key.words)[static_cast<std::size_t>(value)]);
}

}  // namespace reprise::config
