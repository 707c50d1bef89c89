#include "proxy/telemetry/metrics/upstream_cells.hpp"

#include <algorithm>

namespace reprise::telemetry {

UpstreamCells& UpstreamTable::cells_of(std::string_view host_port) {
  const std::scoped_lock lock(mutex_);
  if (const auto known = labelled_.find(host_port); known != labelled_.end()) return known->second;
  const bool configured = is_configured(host_port);
  if (labelled_.size() >= labels_.most || (!configured && from_traffic_ >= labels_.most_from_traffic))
    return other_;
  from_traffic_ += configured ? 0 : 1;
  return labelled_.try_emplace(std::string(host_port), host_port).first->second;
}

std::string_view UpstreamTable::label_of(std::string_view host_port) const {
  const std::scoped_lock lock(mutex_);
  const auto known = labelled_.find(host_port);
  return known == labelled_.end() ? other_.label : known->second.label;
}

void UpstreamTable::each(const std::function<void(const UpstreamCells&)>& visit) const {
  const std::scoped_lock lock(mutex_);
  for (const auto& [label, cells] : labelled_) visit(cells);
  visit(other_);
}

bool UpstreamTable::is_configured(std::string_view host_port) const {
  const std::string_view host = host_port.substr(0, host_port.rfind(':'));
  return std::find(labels_.configured.begin(), labels_.configured.end(), host) != labels_.configured.end();
}

}  // namespace reprise::telemetry
