// Tests TlsLink, the proxy's client side of TLS, against OpenSSL's own server on another thread.
#include "proxy/net/tls/tls_link.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>

#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <thread>

#include "proxy/net/io/failure.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/tls_end.hpp"

namespace reprise::net {
namespace {

using play::TlsEnd;
using play::TlsEndsWith;
using play::TlsServer;

class TlsLinkTest : public ::testing::Test {
 protected:
  /// The server's part on one connection. The script runs on its own thread, which the fixture's destructor
  /// wakes and joins.
  using Script = std::function<void(TlsEnd&)>;

  ~TlsLinkTest() override {
    stream_.reset();
    if (end_ != nullptr) end_->socket().wake();
    join();
  }

  void join() {
    if (thread_.joinable()) thread_.join();
  }

  TlsClient trusting() const {
    policy::TlsPolicy policy;
    policy.ca_file = server_->certificate_file();
    return {policy, 0};
  }

  void serve(std::string_view protocol = "http/1.1") { server_ = std::make_unique<TlsServer>(protocol); }

  /// Returns the link of a new connection whose server side runs the script.
  TlsLink& open(Script script, std::string_view name = "localhost") {
    if (server_ == nullptr) serve();
    if (client_ == nullptr) client_ = std::make_unique<TlsClient>(trusting());
    stream_.reset();
    join();
    tcp::acceptor acceptor(bench_.io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    tcp::socket near(bench_.io);
    near.connect(acceptor.local_endpoint());
    near.non_blocking(true);
    end_ = std::make_unique<TlsEnd>(*server_, RawSocket(acceptor.accept().release()));
    thread_ = std::thread([script = std::move(script), end = end_.get()] { script(*end); });
    auto link = std::make_unique<TlsLink>(std::move(near), *client_, name, ticket_);
    TlsLink& made = *link;
    stream_ = std::make_unique<Stream>(bench_.tick, std::move(link));
    return made;
  }

  static Task<Handshake> shake(Stream& stream, TlsLink& link) {
    Handshake step = link.shake_hands();
    while (step == Handshake::wants_read || step == Handshake::wants_write) {
      const ErrorCode error = step == Handshake::wants_read ? co_await stream.wait_readable()
                                                            : co_await stream.wait_writable(long_enough);
      if (error) co_return Handshake::failed;
      step = link.shake_hands();
    }
    co_return step;
  }
  Handshake shake(TlsLink& link) { return bench_.run(shake(*stream_, link)); }

  /// Returns the link of a new connection after the TLS handshake. The server then runs the script.
  TlsLink& connect(Script script, std::string_view name = "localhost") {
    TlsLink& link = open(
        [script = std::move(script)](TlsEnd& end) {
          if (end.accept()) script(end);
        },
        name);
    EXPECT_EQ(shake(link), Handshake::done) << link.words();
    return link;
  }

  static Task<std::size_t> read_once(Stream& stream, asio::mutable_buffer into) {
    co_return std::get<1>(co_await stream.read_some(into));
  }

  /// Reads until an error or the end, and returns that error.
  static Task<ErrorCode> read_all(Stream& stream, std::string& all) {
    std::array<char, 40000> room{};
    for (;;) {
      const auto [error, bytes] = co_await stream.read_some(asio::buffer(room));
      if (error) co_return error;
      all.append(room.data(), bytes);
    }
  }
  ErrorCode read_all(std::string& all) { return bench_.run(read_all(*stream_, all)); }

  /// Sends until the send buffer stays full: the kernel takes no more bytes, and no acknowledgement that
  /// would make room is outstanding.
  static void fill(int descriptor) {
    const std::string block(60000, 'x');
    EXPECT_TRUE(play::eventually([&] {
      // Reads tcp_info before sending. If it were read afterwards, an acknowledgement between the failed send
      // and the read could make room unnoticed.
      tcp_info info{};
      socklen_t size = sizeof info;
      ::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size);
      bool took = false;
      for (const std::size_t bytes : {block.size(), std::size_t{1}}) {
        while (::send(descriptor, block.data(), bytes, MSG_NOSIGNAL | MSG_DONTWAIT) > 0) took = true;
      }
      return !took && info.tcpi_unacked == 0;
    }));
  }

  Bench bench_;
  std::unique_ptr<TlsServer> server_;
  std::unique_ptr<TlsClient> client_;
  std::shared_ptr<TlsTicket> ticket_ = std::make_shared<TlsTicket>();
  std::unique_ptr<TlsEnd> end_;
  std::thread thread_;
  std::unique_ptr<Stream> stream_;
};

TEST_F(TlsLinkTest, B4_stream_ends_with_eof_only_after_close_notify) {
  std::string got;
  connect([](TlsEnd& end) {
    end.send("all of it");
    end.notify();
  });
  EXPECT_EQ(read_all(got), asio::error::eof);
  EXPECT_EQ(got, "all of it");
  got.clear();
  connect([](TlsEnd& end) {
    end.send("a part");
    end.socket().finish_sending();
  });
  const ErrorCode cut = read_all(got);
  EXPECT_EQ(cut, TlsError::no_close_notify) << cut.message();
  EXPECT_EQ(got, "a part");
  EXPECT_EQ(cause_of(cut), policy::Cause::closed);
  EXPECT_EQ(read_all(got), TlsError::no_close_notify) << "again and again";
}

TEST_F(TlsLinkTest, F5_stapled_revocation_fails_the_handshake) {
  serve();
  for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SSL_CTX_set_max_proto_version(server_->settings(), newest);
    server_->staple(server_->authority().response({{TlsServer::serial}}));
    TlsLink& link = open([](TlsEnd& end) { EXPECT_FALSE(end.accept()); });
    EXPECT_EQ(shake(link), Handshake::failed);
    EXPECT_EQ(link.failure(), TlsError::certificate);
    EXPECT_TRUE(link.words().ends_with(": certificate revoked")) << link.words();
    stream_.reset();
    join();
    server_->staple(server_->authority().response({{TlsServer::serial, V_OCSP_CERTSTATUS_GOOD}}));
    connect([](TlsEnd& end) { end.read_to_end(); });
    server_->staple("junk");
    connect([](TlsEnd& end) { end.read_to_end(); });
  }
}

TEST_F(TlsLinkTest, F5_revocation_list_beside_the_trusted_certificates_is_checked) {
  const auto verdict = [this](std::vector<long> serials, play::Timely timely = {}, bool of_root = false) {
    serve();
    server_->publish((of_root ? server_->root() : server_->authority()).list(serials, timely));
    client_.reset();
    TlsLink& link = open([](TlsEnd& end) { end.accept(); });
    const bool stands = shake(link) == Handshake::done;
    return stands ? std::string() : std::string(link.words().substr(link.words().rfind(": ") + 2));
  };
  EXPECT_EQ(verdict({TlsServer::serial}), "certificate revoked");
  EXPECT_EQ(verdict({TlsServer::serial + 1}), "");
  EXPECT_EQ(verdict({}, {-3600, -1800}), "CRL has expired");
  EXPECT_EQ(verdict({TlsServer::authority_serial}, {}, true), "certificate revoked") << "the authority's own";
  EXPECT_EQ(verdict({TlsServer::serial}, {}, true), "") << "of another issuer";
}

TEST_F(TlsLinkTest, issuer_without_a_revocation_list_is_accepted) {
  serve();
  const play::TlsAuthority another("another authority");
  server_->publish(another.pem() + another.list({TlsServer::serial}));
  connect([](TlsEnd& end) { end.read_to_end(); });
}

TEST_F(TlsLinkTest, missing_revocation_list_is_not_reported_as_the_cause_of_a_later_tls_failure) {
  serve();
  const play::TlsAuthority another("another authority");
  server_->publish(another.list({}));
  SSL_CTX_set_max_proto_version(server_->settings(), TLS1_2_VERSION);
  SSL_CTX_set_verify(server_->settings(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  TlsLink& link = open([](TlsEnd& end) { EXPECT_FALSE(end.accept()); });
  EXPECT_EQ(shake(link), Handshake::failed);
  EXPECT_EQ(link.failure(), TlsError::protocol) << link.words();
}

TEST_F(TlsLinkTest, file_with_only_revocation_lists_is_rejected) {
  serve();
  std::ofstream(server_->certificate_file()) << server_->authority().list({});
  EXPECT_THROW(trusting(), std::runtime_error);
}

TEST_F(TlsLinkTest, F7_close_sends_close_notify_and_abort_does_not) {
  TlsEndsWith ended = TlsEndsWith::bytes;
  const auto listen = [&ended](TlsEnd& end) { ended = end.read_to_end(); };
  connect(listen);
  stream_->close();
  join();
  EXPECT_EQ(ended, TlsEndsWith::notice);
  connect(listen);
  stream_.reset();
  join();
  EXPECT_EQ(ended, TlsEndsWith::notice) << "being let go of is a close";
  connect(listen);
  stream_->cut();
  join();
  EXPECT_NE(ended, TlsEndsWith::notice);
}

TEST_F(TlsLinkTest, response_can_still_be_read_after_sending_is_finished) {
  TlsEndsWith ended = TlsEndsWith::bytes;
  connect([&ended](TlsEnd& end) {
    ended = end.read_to_end();
    end.send("heard to the end");
    end.notify();
  });
  stream_->finish_sending();
  std::string got;
  EXPECT_EQ(read_all(got), asio::error::eof);
  EXPECT_EQ(got, "heard to the end");
  join();
  EXPECT_EQ(ended, TlsEndsWith::notice);
}

TEST_F(TlsLinkTest, F7_close_never_blocks_and_completes_within_its_time_limit) {
  // The kernel takes no more bytes and the other side never reads, so close_notify cannot be sent.
  std::atomic<bool> done{false};
  TlsLink& link = connect([&done](TlsEnd&) {
    while (!done) play::yield_a_moment();
  });
  const int descriptor = link.descriptor();
  fill(descriptor);
  const Instant before = Tick::now();
  stream_->close();
  EXPECT_FALSE(stream_->open());
  EXPECT_GE(::fcntl(descriptor, F_GETFD), 0) << "it waits behind what the kernel has to send";
  EXPECT_TRUE(bench_.run_until([&] { return ::fcntl(descriptor, F_GETFD) < 0; }));
  EXPECT_GE(Tick::now() - before, seconds(1));
  done = true;
  join();
}

TEST_F(TlsLinkTest, F7_close_notify_that_cannot_be_sent_at_once_is_sent_when_the_peer_reads) {
  std::atomic<bool> go{false};
  std::atomic<bool> ended{false};
  TlsLink& link = connect([&](TlsEnd& end) {
    end.send("behind the tickets");
    while (!go) play::yield_a_moment();
    EXPECT_EQ(end.socket().read_to_end(), Wire::fin);
    ended = true;
  });
  // Read everything first: a close with unread data, such as a late second ticket, would send a reset.
  std::array<char, 100> room{};
  const std::size_t bytes = bench_.run(read_once(*stream_, asio::buffer(room)));
  EXPECT_EQ(std::string_view(room.data(), bytes), "behind the tickets");
  fill(link.descriptor());
  stream_.reset();
  go = true;
  EXPECT_TRUE(bench_.run_until([&] { return ended.load(); }));
  join();
  // An alert in TLS 1.3 is a record of 19 bytes: 2 of the alert, 1 of the type, 16 of the tag.
  const std::string& got = end_->socket().received();
  ASSERT_GT(got.size(), 24U);
  EXPECT_EQ(got.substr(got.size() - 24, 5), std::string("\x17\x03\x03\x00\x13", 5));
}

TEST_F(TlsLinkTest, close_after_a_partial_record_sends_no_close_notify) {
  std::atomic<bool> done{false};
  TlsLink& link = connect([&done](TlsEnd&) {
    while (!done) play::yield_a_moment();
  });
  const std::string block(60000, 'x');
  Gather pieces;
  while (pieces.empty()) {
    pieces = Gather();
    pieces.add(block);
    EXPECT_FALSE(stream_->write_now(pieces));
  }
  const int descriptor = link.descriptor();
  stream_->close();
  EXPECT_LT(::fcntl(descriptor, F_GETFD), 0);
  done = true;
  join();
}

TEST_F(TlsLinkTest, partial_writes_to_a_slow_reader_arrive_in_order) {
  std::string expected;
  for (int i = 0; i < 3'000'000; ++i) expected.push_back(static_cast<char>(i * 31 + i / 977));
  connect([](TlsEnd& end) {
    while (end.read() == TlsEndsWith::bytes) {
      if (end.received().size() % 7 == 0) play::yield_a_moment();
    }
    end.notify();
  });
  const auto write = [](Stream& stream, const std::string& all) -> Task<ErrorCode> {
    std::size_t at = 0;
    for (unsigned turn = 1; at < all.size(); ++turn) {
      Gather pieces;
      for (const std::size_t wish : {turn % 5, turn * 331 % 20'000, turn * 7919 % 50'000, turn % 300}) {
        const std::size_t bytes = std::min(wish, all.size() - at);
        pieces.add(std::string_view(all).substr(at, bytes));
        at += bytes;
      }
      if (const ErrorCode error = co_await stream.write_all(pieces, long_enough)) co_return error;
    }
    co_return ErrorCode();
  };
  EXPECT_FALSE(bench_.run(write(*stream_, expected)));
  // A close would send a reset, because the session tickets are unread.
  stream_->finish_sending();
  std::string nothing;
  EXPECT_EQ(read_all(nothing), asio::error::eof);
  join();
  EXPECT_TRUE(end_->received() == expected) << end_->received().size();
}

TEST_F(TlsLinkTest, D1_request_counts_as_possibly_sent_as_soon_as_a_write_begins) {
  connect([](TlsEnd& end) { end.read_to_end(); });
  EXPECT_FALSE(stream_->may_have_sent()) << "the handshake is no request";
  Gather pieces;
  pieces.add("POST");
  EXPECT_FALSE(stream_->write_now(pieces));
  EXPECT_TRUE(stream_->may_have_sent());
  stream_->reset_sent();
  EXPECT_FALSE(stream_->may_have_sent());
  // After finish_sending() every write fails. Such a write still counts as possibly sent, because it began.
  stream_->finish_sending();
  pieces.add("POST");
  EXPECT_TRUE(stream_->write_now(pieces));
  EXPECT_TRUE(stream_->may_have_sent());
}

TEST_F(TlsLinkTest, check_for_unread_data_consumes_session_tickets_and_detects_data_and_a_close) {
  std::atomic<int> step{0};
  TlsLink& link = connect([&step](TlsEnd& end) {
    while (step < 1) play::yield_a_moment();
    end.send("x");
    while (step < 2) play::yield_a_moment();
    end.notify();
    end.read_to_end();
  });
  // The session tickets arrive after the handshake.
  EXPECT_TRUE(
      bench_.run_until([&] { return link.unread() == Unread::nothing && ticket_->newest != nullptr; }));
  step = 1;
  EXPECT_TRUE(bench_.run_until([&] { return link.unread() == Unread::bytes; }));
  std::array<char, 8> room{};
  EXPECT_EQ(bench_.run(read_once(*stream_, asio::buffer(room))), 1U);
  EXPECT_EQ(link.unread(), Unread::nothing);
  step = 2;
  EXPECT_TRUE(bench_.run_until([&] { return link.unread() == Unread::closed; }));
}

// HTTP/2 waits until it can read, and then reads. Its SETTINGS are written between the handshake and the
// wait.
TEST_F(TlsLinkTest, bytes_that_a_check_has_found_are_read_although_a_write_came_before) {
  std::atomic<bool> has_written{false};
  TlsLink& link = connect([&has_written](TlsEnd& end) {
    while (!has_written) play::yield_a_moment();
    end.send("x");
    end.read_to_end();
  });
  EXPECT_TRUE(
      bench_.run_until([&] { return link.unread() == Unread::nothing && ticket_->newest != nullptr; }));
  Gather pieces;
  pieces.add("settings");
  EXPECT_FALSE(stream_->write_now(pieces));
  has_written = true;
  EXPECT_TRUE(bench_.run_until([&] { return link.unread() == Unread::bytes; }));
  std::array<char, 8> room{};
  EXPECT_EQ(bench_.run(read_once(*stream_, asio::buffer(room))), 1U);
  stream_->finish_sending();
}

TEST_F(TlsLinkTest, newest_session_is_resumed) {
  std::string got;
  const auto greet = [](TlsEnd& end) {
    end.send("x");
    end.notify();
    end.read_to_end();
  };
  EXPECT_FALSE(connect(greet).resumed());
  read_all(got);
  EXPECT_NE(ticket_->newest, nullptr);
  EXPECT_TRUE(connect(greet).resumed());
}

TEST_F(TlsLinkTest, F8_no_data_is_sent_before_the_handshake_is_complete) {
  bool early = true;
  std::string got;
  for (const bool resumes : {false, true, true}) {
    TlsLink& link = connect([&early](TlsEnd& end) {
      early = end.early_data();
      end.send("x");
      end.notify();
      end.read_to_end();
    });
    EXPECT_EQ(link.resumed(), resumes);
    read_all(got);
    stream_->close();
    join();
    EXPECT_FALSE(early) << "though the ticket allows it";
  }
}

TEST_F(TlsLinkTest, F5_server_with_another_name_gets_no_data) {
  const auto fails = [&](std::string_view name) {
    TlsLink& link = open([](TlsEnd& end) { EXPECT_FALSE(end.accept()); }, name);
    EXPECT_EQ(shake(link), Handshake::failed) << name;
    EXPECT_EQ(cause_of(link.failure()), policy::Cause::tls_certificate_error) << link.failure().message();
    std::string words = link.words();
    stream_.reset();
    join();
    return words;
  };
  EXPECT_NE(fails("other.test").find("ostname mismatch"), std::string::npos);
  EXPECT_NE(fails("127.0.0.2").find("IP address mismatch"), std::string::npos);
  EXPECT_NE(fails("test" + std::to_string(TlsServer::serial)).find("ostname mismatch"), std::string::npos)
      << "the CN does not count";
  connect([](TlsEnd&) {}, "127.0.0.1");
}

TEST_F(TlsLinkTest, F5_untrusted_server_gets_no_data) {
  serve();
  client_ = std::make_unique<TlsClient>(policy::TlsPolicy{}, 0);
  TlsLink& link = open([](TlsEnd& end) { EXPECT_FALSE(end.accept()); });
  EXPECT_EQ(shake(link), Handshake::failed);
  EXPECT_EQ(link.failure(), TlsError::certificate);
  EXPECT_NE(link.words().find("unable to get local issuer certificate"), std::string::npos) << link.words();
  EXPECT_EQ(ticket_->newest, nullptr);
}

TEST_F(TlsLinkTest, F5_handshake_without_a_server_name_fails) {
  TlsLink& link = open([](TlsEnd&) {}, "");
  EXPECT_EQ(shake(link), Handshake::failed);
  EXPECT_EQ(link.failure(), TlsError::certificate);
}

TEST_F(TlsLinkTest, handshake_fails_if_the_server_selects_a_protocol_that_was_not_offered) {
  serve("h2");
  TlsLink& link = open([](TlsEnd& end) { end.accept(); });
  EXPECT_EQ(shake(link), Handshake::failed);
  EXPECT_EQ(cause_of(link.failure()), policy::Cause::tls_protocol_error);
  EXPECT_FALSE(link.words().empty());
  stream_.reset();
  serve("");
  client_.reset();
  connect([](TlsEnd&) {});
}

TEST_F(TlsLinkTest, fin_and_reset_and_garbage_during_the_handshake_are_distinguished) {
  const auto cause = [&](Script script) {
    TlsLink& link = open(std::move(script));
    EXPECT_EQ(shake(link), Handshake::failed);
    EXPECT_FALSE(link.words().empty());
    const policy::Cause found = cause_of(link.failure());
    stream_.reset();
    join();
    return found;
  };
  const auto hello = [](TlsEnd& end) { EXPECT_TRUE(end.socket().read_bytes(200)); };
  EXPECT_EQ(cause([&](TlsEnd& end) { hello(end), end.socket().finish_sending(); }), policy::Cause::closed);
  EXPECT_EQ(cause([&](TlsEnd& end) { hello(end), end.socket().reset(); }), policy::Cause::reset);
  EXPECT_EQ(cause([&](TlsEnd& end) { hello(end), end.socket().send("HTTP/1.1 400 What\r\n\r\n"); }),
            policy::Cause::tls_protocol_error);
}

TEST_F(TlsLinkTest, cancelled_read_ends_and_a_later_read_works) {
  std::atomic<bool> go{false};
  connect([&go](TlsEnd& end) {
    while (!go) play::yield_a_moment();
    end.send("late");
    end.notify();
    end.read_to_end();
  });
  std::string got;
  stream_->limit_read(milliseconds(50));
  EXPECT_EQ(read_all(got), asio::error::operation_aborted);
  EXPECT_TRUE(stream_->take_limit_hit());
  go = true;
  EXPECT_EQ(read_all(got), asio::error::eof);
  EXPECT_EQ(got, "late");
}

}  // namespace
}  // namespace reprise::net
