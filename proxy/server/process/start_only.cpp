#include "proxy/server/process/start_only.hpp"

namespace reprise::server {

std::vector<std::string> keep_start_only(const config::Settings& running, config::Settings& next) {
  std::vector<std::string> kept;
  const auto keep = [&](const char* path, const auto& value, auto& wanted) {
    if (wanted == value) return;
    wanted = value;
    kept.emplace_back(path);
  };
  keep("threads", running.threads, next.threads);
  keep("admin.control", running.admin.control, next.admin.control);
  const config::Limits& limits = running.limits;
  keep("limits.admin_connections", limits.admin_connections, next.limits.admin_connections);
  keep("limits.replay_folder", limits.replay_folder, next.limits.replay_folder);
  keep("limits.upstreams", limits.upstreams, next.limits.upstreams);
  keep("limits.labelled_upstreams", limits.labelled_upstreams, next.limits.labelled_upstreams);
  keep("limits.stories", limits.history_bytes, next.limits.history_bytes);
  return kept;
}

}  // namespace reprise::server
