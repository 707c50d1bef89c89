// File descriptors: how many clients the limit allows, and a reserve descriptor for rejecting clients when no
// other descriptor is left.
#pragma once

#include <cstddef>

namespace reprise::net {

/// Raises the soft limit of this process (RLIMIT_NOFILE), up to the hard limit, so that there are enough
/// descriptors for `clients` clients and `admin` admin connections. Call before any thread starts.
void raise_descriptor_limit(std::size_t clients, std::size_t admin);

/// Returns how many clients the descriptor limit allows. Each client also gets an upstream connection. Some
/// descriptors are left for listeners, logs, resolving, disk, and `admin` connections to the admin listener.
/// Returns at least 1.
std::size_t clients_allowed(std::size_t admin);

/// Returns how many of the `wanted` admin connections the descriptor limit allows: at most half of the
/// descriptors that are not for clients. Returns at least 1 (row L9).
std::size_t admin_allowed(std::size_t wanted);

/// Returns true for EMFILE and ENFILE.
bool is_out_of_descriptors(int error);

/// An open descriptor that is closed when another descriptor is needed. Used by one thread.
class ReserveDescriptor {
 public:
  ReserveDescriptor() { take(); }
  ~ReserveDescriptor() { give_up(); }
  ReserveDescriptor(const ReserveDescriptor&) = delete;
  ReserveDescriptor& operator=(const ReserveDescriptor&) = delete;

  /// Opens the reserve descriptor again if it is closed and a descriptor is free.
  void take();
  void give_up();

 private:
  int descriptor_ = -1;
};

}  // namespace reprise::net
