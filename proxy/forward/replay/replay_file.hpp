// One request's body on its way to disk: appended on the io thread, written by the disk thread, never waited
// for but by its own request.
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

/// Used on one io thread. What is on its way to the disk is bounded if `wait_for_room` comes before each read
/// of the client, and it is taken from the memory of all requests. May be destroyed at any time: jobs own
/// what they work on, those that have not begun write nothing, and the file closes behind the last of them.
class ReplayFile {
 public:
  static constexpr std::size_t block_bytes = std::size_t{64} * 1024;

  /// Nobody waits for the disk after `until`, unless the request needs what is on it.
  ReplayFile(ReplayStore& store, const asio::any_io_executor& executor, Instant until = Instant::max());
  ~ReplayFile();
  ReplayFile(const ReplayFile&) = delete;
  ReplayFile& operator=(const ReplayFile&) = delete;

  /// Copies. False, with nothing taken, and told to the log, where the body can be held no longer: the
  /// allowance of the disk or that of the memory is spent, or the file has failed.
  [[nodiscard]] bool append(std::string_view bytes) { return append(bytes, Allotment(store_.memory())); }
  /// The same with memory of `store.memory()` that was taken for it before.
  [[nodiscard]] bool append(std::string_view bytes, Allotment&& memory);
  /// The same for what was held in memory, which goes back to its allowance once it is on disk. Where it is
  /// false, neither was taken.
  [[nodiscard]] bool append_held(std::string&& bytes, Allotment&& memory);

  /// A write has failed, or was too slow.
  bool failed() const { return failed_; }
  std::uint64_t size() const { return allotment_.bytes(); }
  /// More is on its way to the disk than may be, or all requests together leave no memory for more.
  bool is_behind() const;
  /// From now on the request needs the file: a disk that is slow is waited for as long as it makes progress.
  void insist() { needed_ = true; }

  /// Until the disk has caught up, or has failed, or has been waited for too long: then it counts as failed.
  /// False if `cancel` ended it.
  Task<bool> wait_for_room() { return wait_while(&ReplayFile::is_behind); }
  /// The same until everything is written, or something could not be.
  Task<bool> wait_for_all();
  /// Bytes that need no further block. Never 0.
  std::size_t room_in_block() const { return block_bytes - filling_.size(); }
  /// Begins to write what fills no block yet.
  void flush();
  /// Ends every wait under way.
  void cancel();

  /// For a reader: what it reads after this call is all that was appended before.
  const std::shared_ptr<TemporaryFile>& flushed();
  ReplayStore& store() { return store_; }

 private:
  static constexpr std::size_t most_in_flight = 2 * block_bytes;
  /// For each of these the disk may be waited for once more: a disk that takes 64 MiB in a second keeps up.
  static constexpr std::uint64_t bytes_of_patience = std::uint64_t{64} << 20;

  struct Held {
    std::string bytes;
    Allotment memory;
  };
  /// What one job writes: a block of its own, or a part of what was held in memory.
  struct Piece {
    std::string block;
    Allotment memory;  ///< of the block
    std::shared_ptr<Held> held;
    std::size_t offset = 0;
    std::size_t count = 0;

    std::string_view view() const {
      return std::string_view(held ? held->bytes : block).substr(offset, count);
    }
    /// Ends it: its buffer is spare then, if no other piece needs it, and its memory goes back.
    void give_back(SpareBuffers&);
  };
  /// How a job finds its way back: null once nobody is there.
  struct Link {
    ReplayFile* file = nullptr;
    std::atomic<bool> is_wanted{true};  ///< false: no job writes any more
  };

  /// Is woken with the others, for as long as it lives; which may be longer than the file does, where the
  /// frames of a thread that ends are destroyed.
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
  /// Two attempts beside each other may both wait.
  const std::shared_ptr<std::vector<net::Pause*>> waiting_ = std::make_shared<std::vector<net::Pause*>>();
  std::size_t in_flight_ = 0;
  Instant progress_{};
  Duration waited_{};  ///< for the disk, in all
  bool needed_ = false;
  bool failed_ = false;
  bool cancelled_ = false;
};

}  // namespace reprise::forward
