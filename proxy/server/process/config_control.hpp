// Holds the current configuration and applies a new one while the process runs.
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

/// A configuration and the objects made from it.
struct CurrentConfig {
  std::shared_ptr<const net::Snapshot> snapshot;
  std::shared_ptr<const ListenerSet> listeners;
  std::string hash;
  std::vector<WatchedFile> files;
  ReloadReport last;  ///< last reload
};

/// Returns lines such as `forward 127.0.0.1:3128`, one per listener; the admin listener is last.
std::vector<std::string> described_listeners(const CurrentConfig&);

/// Returns the STATUS= line for the service manager.
std::string service_status(const CurrentConfig&, bool leaving);

/// Binds the listeners of the first configuration, which `begin` applies. Later configurations are read and
/// applied by the reloader's thread.
class ConfigControl {
 public:
  /// Creates the workers of the runtime. Throws as Proxy's constructor does.
  ConfigControl(Runtime&, config::Settings);
  ~ConfigControl();
  ConfigControl(const ConfigControl&) = delete;
  ConfigControl& operator=(const ConfigControl&) = delete;

  /// Returns the current configuration. Thread-safe.
  CurrentConfig now() const;
  /// Applies the first configuration, before the loops run. The admin listener serves `pages`.
  void begin(AdminPages pages);
  /// Starts watching the files for changes. Does nothing if there is no file to reload.
  void watch();
  /// Stops reloading. Returns when no reload is running and none can start.
  void stop();
  /// Requests a reload that begins after this call. Thread-safe.
  void ask_to_reload(Reloader::Done done);
  /// Closes the listeners of one worker and drains its sessions. Call on that worker's thread.
  void close_listeners(std::size_t index);

 private:
  using Roles = std::vector<std::shared_ptr<const forward::ListenerRole>>;

  static Roles roles_of(const config::Settings&, const ListenerSet&);
  void close_unwanted(const std::vector<net::InheritedSocket>&);
  void note_own_dials(const config::Settings&);
  /// Applies a configuration to one worker: new requests use `next`, and new clients connect to the listeners
  /// in `wanted`. Call on that worker's thread.
  void apply_to_worker(std::size_t index, const std::shared_ptr<const net::Snapshot>& next,
                       const ListenerSet& wanted, const Roles&, const ListenerSet* before);
  void apply_to_all(const CurrentConfig& next, const CurrentConfig& before);
  /// Returns the files to watch; none if `reload.watch` is off.
  std::vector<WatchedFile> watched_files() const;
  // The following functions run on the reloader's thread.
  ReloadReport reload();
  ReloadReport apply(NewConfiguration);
  ReloadReport file_failure(const NewConfiguration&, const std::string& why);
  /// Updates the watched files. Precondition: the mutex is held. `is_whole`: the list is complete and
  /// replaces the old one; else it extends the old one.
  void note_files(std::vector<WatchedFile>, bool is_whole);

  Runtime& runtime_;
  SnapshotBuilder builder_;
  forward::EventLoop binding_{1};
  AdminPages pages_;
  mutable std::mutex mutex_;
  CurrentConfig current_;  ///< guarded by the mutex
  /// Snapshots to free on the reloader's thread, and not on an io thread.
  std::vector<std::shared_ptr<const net::Snapshot>> retired_;
  std::unique_ptr<Reloader> reloader_;  ///< null if there is no file to reload
};

}  // namespace reprise::server
