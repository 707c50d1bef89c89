// Writes one request body to disk: the io thread appends, the disk thread writes, and no other request has to
// wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/forward/replay/replay_store.hpp"
#include "proxy/net/io/pause.hpp"

namespace reprise::forward {

/// Used on one io thread. If `wait_for_room` is called before each read from the client, the amount of data
/// on its way to the disk is bounded. This data counts towards the memory limit that the bodies of all
/// requests share. May be destroyed at any time: jobs own their data, jobs that have not begun write nothing,
/// and the file is closed after the last job.
class ReplayFile {
 public:
  static constexpr std::size_t block_bytes = std::size_t{64} * 1024;

  /// `until`: the time at which every wait for the disk ends, unless `require_file` was called.
  ReplayFile(ReplayStore& store, const asio::any_io_executor& executor, Instant until = Instant::max());
  ~ReplayFile();
  ReplayFile(const ReplayFile&) = delete;
  ReplayFile& operator=(const ReplayFile&) = delete;

  /// Copies the bytes. Takes nothing, logs the cause and returns false if the body cannot be held any longer:
  /// the disk or the memory limit is reached, or the file has failed.
  [[nodiscard]] bool append(std::string_view bytes) { return append(bytes, Allotment(store_.memory())); }
  /// Like `append(bytes)`, but uses `memory`, which was already taken from `store.memory()`.
  [[nodiscard]] bool append(std::string_view bytes, Allotment&& memory);
  /// Appends bytes that were held in memory, as `append` does. The memory is given back once the bytes are on
  /// disk. If the call returns false, both arguments are unchanged.
  [[nodiscard]] bool append_held(std::string&& bytes, Allotment&& memory);

  /// Returns true if a write has failed or was too slow.
  bool failed() const { return failed_; }
  std::uint64_t size() const { return allotment_.bytes(); }
  /// Returns true if too many bytes are on their way to the disk, or if the bodies of all requests leave no
  /// memory for more.
  bool is_behind() const;
  /// Declares that the request needs the file. From now on a wait for a slow disk continues as long as the
  /// disk makes progress.
  void require_file() { needed_ = true; }

  /// Waits until the disk has caught up or has failed. A wait that takes too long counts as a failure.
  /// Returns false if `cancel` ended the wait.
  Task<bool> wait_for_room() { return wait_while(&ReplayFile::is_behind); }
  /// Waits until all bytes are written or a write has failed. Otherwise works like `wait_for_room`.
  Task<bool> wait_for_all();
  /// Returns how many bytes fit into the current block. Never 0.
  std::size_t room_in_block() const { return block_bytes - filling_.size(); }
  /// Starts writing the last block, although the block is not full yet.
  void flush();
  /// Ends every pending wait.
  void cancel();

  /// Returns the file for a reader, which can then read everything that was appended before this call.
  const std::shared_ptr<TemporaryFile>& flushed();
  ReplayStore& store() { return store_; }

 private:
  static constexpr std::size_t most_in_flight = 2 * block_bytes;
  /// Each further 64 MiB of the body lengthens the time limit for all waits together by the store's
  /// `patience`. A disk that writes 64 MiB in a second is fast enough.
  static constexpr std::uint64_t bytes_of_patience = std::uint64_t{64} << 20;

  struct Held {
    std::string bytes;
    Allotment memory;
  };
  /// The data of one job: either a block that the piece owns, or a range of the bytes that were held in
  /// memory.
  struct Piece {
    std::string block;
    Allotment memory;  ///< memory of `block`
    std::shared_ptr<Held> held;
    std::size_t offset = 0;
    std::size_t count = 0;

    std::string_view view() const {
      return std::string_view(held ? held->bytes : block).substr(offset, count);
    }
    /// Ends the piece: gives back its memory. Gives back its buffer too, unless another piece still uses the
    /// buffer.
    void give_back(SpareBuffers&);
  };
  /// Connects a job with its file. `file` is null once the file is destroyed.
  struct Link {
    ReplayFile* file = nullptr;
    std::atomic<bool> is_wanted{true};  ///< false: no further job writes
  };

  /// Registers a pause for the lifetime of this object; `wake` ends a registered pause. A Waiter may outlive
  /// the file when the coroutines of an ending thread are destroyed.
  class [[nodiscard]] Waiter {
   public:
    explicit Waiter(const ReplayFile&);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    net::Pause pause;

   private:
    const std::shared_ptr<std::vector<net::Pause*>> all_;
  };

  bool is_writing() const { return in_flight_ > 0; }
  void write(Piece);
  void written(std::size_t count, int error);
  void fail(NotHeld why, int error);
  void wake();
  Task<bool> wait_while(bool (ReplayFile::*is_busy)() const);
  Instant end_of_wait(Instant begun) const;

  ReplayStore& store_;
  asio::any_io_executor executor_;
  std::shared_ptr<TemporaryFile> file_;
  std::shared_ptr<Link> link_;
  Allotment allotment_;
  const Instant until_;
  std::string filling_;
  Allotment filling_memory_;
  /// The pending waits for the disk. There may be two, because two concurrent attempts may both wait.
  const std::shared_ptr<std::vector<net::Pause*>> waiting_ = std::make_shared<std::vector<net::Pause*>>();
  std::size_t in_flight_ = 0;
  Instant progress_{};
  Duration waited_{};  ///< total time spent waiting for the disk
  bool needed_ = false;
  bool failed_ = false;
  bool cancelled_ = false;
};

}  // namespace reprise::forward
