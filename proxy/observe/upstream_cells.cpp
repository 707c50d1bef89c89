#include "proxy/observe/upstream_cells.hpp"

#include <algorithm>

namespace reprise::observe {

UpstreamCells& UpstreamTable::meet(std::string_view host_port) {
  const std::scoped_lock lock(mutex_);
  if (UpstreamCells* known = find(host_port)) return *known;
  const bool configured = is_configured(host_port);
  if (met_.size() >= labels_.most || (!configured && from_traffic_ >= labels_.most_met)) return other_;
  from_traffic_ += configured ? 0 : 1;
  return *met_.emplace_back(std::make_unique<UpstreamCells>(host_port));
}

std::string_view UpstreamTable::label_of(std::string_view host_port) const {
  const std::scoped_lock lock(mutex_);
  const UpstreamCells* known = find(host_port);
  return known == nullptr ? other_.label : known->label;
}

void UpstreamTable::each(const std::function<void(const UpstreamCells&)>& told) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& one : met_) told(*one);
  told(other_);
}

UpstreamCells* UpstreamTable::find(std::string_view host_port) const {
  const auto found =
      std::find_if(met_.begin(), met_.end(), [&](const auto& one) { return one->label == host_port; });
  return found == met_.end() ? nullptr : found->get();
}

bool UpstreamTable::is_configured(std::string_view host_port) const {
  const std::string_view host = host_port.substr(0, host_port.rfind(':'));
  return std::find(labels_.configured.begin(), labels_.configured.end(), host) != labels_.configured.end();
}

}  // namespace reprise::observe
