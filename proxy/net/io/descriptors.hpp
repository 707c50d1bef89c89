// File descriptors: how many clients they allow, and one
// in reserve for turning clients away when none is left.
#pragma once

#include <cstddef>

namespace reprise::net {

/// Raises this process's soft limit (RLIMIT_NOFILE) as far as so many clients, and connections to the admin
/// listener, need and the hard limit allows. Before any thread is started.
void raise_descriptor_limit(std::size_t clients, std::size_t admin);

/// How many clients the limit allows where each gets an upstream connection too, and some descriptors are
/// left for listeners, logs, resolving, disk, and `admin` connections to the admin listener. At least 1.
std::size_t clients_allowed(std::size_t admin);

/// How many connections to the admin listener the limit allows of those that are wanted: half of what is left
/// beside the clients'. At least 1 (row L9).
std::size_t admin_allowed(std::size_t wanted);

/// True for EMFILE and ENFILE.
bool is_out_of_descriptors(int error);

/// An open descriptor that is good for nothing but to be closed when another is needed. Used by one thread.
class ReserveDescriptor {
 public:
  ReserveDescriptor() { take(); }
  ~ReserveDescriptor() { give_up(); }
  ReserveDescriptor(const ReserveDescriptor&) = delete;
  ReserveDescriptor& operator=(const ReserveDescriptor&) = delete;

  /// Holds one again, if there is one.
  void take();
  void give_up();

 private:
  int descriptor_ = -1;
};

}  // namespace reprise::net
