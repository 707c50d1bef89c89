// Which configuration is in force, and how another takes its place while the process runs.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "proxy/server/admin/admin.hpp"
#include "proxy/server/process/listener_set.hpp"
#include "proxy/server/process/reloader.hpp"
#include "proxy/server/process/runtime.hpp"
#include "proxy/server/process/snapshot_builder.hpp"

namespace reprise::server {

/// A configuration, and what was made of it.
struct InForce {
  std::shared_ptr<const net::Snapshot> snapshot;
  std::shared_ptr<const ListenerSet> listeners;
  std::string hash;
  std::vector<WatchedFile> files;
  ReloadReport last;  ///< reload
};

/// Lines such as `forward 127.0.0.1:3128`, one for each listener; the admin listener last.
std::vector<std::string> described_listeners(const InForce&);

/// The line for the service manager, as STATUS=.
std::string service_status(const InForce&, bool leaving);

/// Binds the listeners of the first configuration, which is in force from `begin` on. The reloader's thread
/// reads and takes up the later ones.
class ConfigControl {
 public:
  /// Makes the workers of the runtime. Throws as Proxy's constructor does.
  ConfigControl(Runtime&, config::Settings);
  ~ConfigControl();
  ConfigControl(const ConfigControl&) = delete;
  ConfigControl& operator=(const ConfigControl&) = delete;

  /// Any thread.
  InForce now() const;
  /// Puts the first configuration in force, before the loops run. The admin listener serves `pages`.
  void begin(AdminPages pages);
  /// Looks for changed files from now on. Nothing to reload: does nothing.
  void watch();
  /// Returns once no reload is under way, and none will be.
  void stop();
  /// A reload that begins after this call. Any thread.
  void ask_to_reload(Reloader::Told told);
  /// On that worker's thread: nobody else comes in, and its sessions drain.
  void close_listeners(std::size_t index);

 private:
  using Roles = std::vector<std::shared_ptr<const forward::ListenerRole>>;

  static Roles roles_of(const config::Settings&, const ListenerSet&);
  void close_unwanted(const std::vector<net::InheritedSocket>&);
  void note_own_dials(const config::Settings&);
  /// On that worker's thread: its requests begin under `next`, its clients come through `wanted`.
  void put_in_force(std::size_t index, const std::shared_ptr<const net::Snapshot>& next,
                    const ListenerSet& wanted, const Roles&, const ListenerSet* before);
  void put_in_force_everywhere(const InForce& next, const InForce& before);
  /// None if `reload.watch` is off.
  std::vector<WatchedFile> watched_files() const;
  // On the reloader's thread.
  ReloadReport reload();
  ReloadReport take_up(NewConfiguration);
  ReloadReport file_failure(const NewConfiguration&, const std::string& why);
  /// Under the mutex. `is_whole`: they are all, and not some more.
  void note_files(std::vector<WatchedFile>, bool is_whole);

  Runtime& runtime_;
  SnapshotBuilder builder_;
  forward::EventLoop binding_{1};
  AdminPages pages_;
  mutable std::mutex mutex_;
  InForce current_;  ///< under the mutex
  std::vector<std::shared_ptr<const net::Snapshot>>
      retired_;                         ///< freed on the reloader's thread, not on an io thread
  std::unique_ptr<Reloader> reloader_;  ///< null: there is nothing to reload
};

}  // namespace reprise::server
