// Tests parsing of nsswitch.conf and resolv.conf, and the full names that are tried for a short one.
#include "proxy/net/resolve/name_sources.hpp"

#include <gtest/gtest.h>

namespace reprise::net {
namespace {

using std::chrono::seconds;
using Names = std::vector<std::string>;

struct Line {
  const char* text;
  const char* order;
  bool others;
  bool myhostname;
};

TEST(NameSources, hosts_line_of_nsswitch_is_parsed) {
  const Line lines[] = {
      {"", "fb", false, false},
      {"passwd: files sss\n", "fb", false, false},
      {"hosts: files dns\n", "fb", false, false},
      {"# hosts: files\nhosts:\tdns files # and nothing else", "bf", false, false},
      {"hosts: files dns dns\r\n", "fb", false, false},
      {"hosts: files\n", "f", false, false},
      {"hosts: files mdns4_minimal [NOTFOUND=return] dns\n", "fb", true, false},
      {"hosts: mymachines resolve [!UNAVAIL=return] files myhostname dns\n", "bf", true, true},
      {"hosts: files [ NOTFOUND=continue UNAVAIL=return ] dns myhostname\n", "fb", false, true},
      {"hosts: sss\n", "", true, false},
  };
  for (const Line& line : lines) {
    const HostsLine read = read_hosts_line(line.text);
    EXPECT_EQ(read.order, line.order) << line.text;
    EXPECT_EQ(read.others, line.others) << line.text;
    EXPECT_EQ(read.myhostname, line.myhostname) << line.text;
  }
}

TEST(NameSources, c_library_is_needed_only_for_names_of_sources_other_than_files_and_dns) {
  EXPECT_FALSE(is_for_others({"fb", false, false}, "up.test", "here"));
  EXPECT_TRUE(is_for_others({"fb", true, false}, "up.test", "here"));
  const HostsLine own{"fb", false, true};
  EXPECT_FALSE(is_for_others(own, "up.test", "here"));
  for (const char* name : {"here", "_gateway", "_outbound"}) EXPECT_TRUE(is_for_others(own, name, "here"));
}

TEST(NameSources, timeout_and_attempts_follow_resolv_conf) {
  const LookupOptions usual = read_lookup_options("nameserver 192.0.2.1\n", "");
  EXPECT_EQ(usual.first, seconds(1));
  EXPECT_EQ(usual.rounds, 3);
  EXPECT_TRUE(usual.one_server);
  EXPECT_TRUE(read_lookup_options("", "").one_server);
  EXPECT_FALSE(read_lookup_options("nameserver 192.0.2.1\nnameserver 192.0.2.2\n", "").one_server);
  const LookupOptions told =
      read_lookup_options("options timeout:7 ndots:5\n options attempts:2 rotate\n", "");
  EXPECT_EQ(told.first, seconds(7));
  EXPECT_EQ(told.rounds, 2);
  const LookupOptions last =
      read_lookup_options("options timeout:7 timeout:4000 attempts:99", "timeout:2 attempts:x");
  EXPECT_EQ(last.first, seconds(2));
  EXPECT_EQ(last.rounds, 5);
  EXPECT_EQ(read_lookup_options("options timeout:4000 attempts:0", "").first, seconds(30));
}

TEST(NameSources, N7_use_vc_and_no_aaaa_are_read_from_the_file_and_the_environment) {
  EXPECT_FALSE(
      read_lookup_options("# options use-vc\nsearch use-vc\noptions use-vcx no-aaaax\n", "").over_tcp);
  EXPECT_TRUE(read_lookup_options("options ndots:2 use-vc\n", "").over_tcp);
  EXPECT_TRUE(read_lookup_options("options use-vc\noptions timeout:1\n", "").over_tcp);
  EXPECT_TRUE(read_lookup_options("", "timeout:2 use-vc").over_tcp);
  EXPECT_FALSE(read_lookup_options("options use-vc\n", "").ipv4_only);
  EXPECT_TRUE(read_lookup_options("options no-aaaa\n", "").ipv4_only);
}

TEST(NameSources, short_names_are_expanded_with_the_search_domains) {
  const Names domains{"a.test", "b.test."};
  EXPECT_EQ(names_to_ask("db", domains, 1), (Names{"db.a.test", "db.b.test", "db"}));
  EXPECT_EQ(names_to_ask("db.x", domains, 1), (Names{"db.x", "db.x.a.test", "db.x.b.test"}));
  EXPECT_EQ(names_to_ask("db.x", domains, 2), (Names{"db.x.a.test", "db.x.b.test", "db.x"}));
  EXPECT_EQ(names_to_ask("db.", domains, 5), (Names{"db."}));
  EXPECT_EQ(names_to_ask("db", {}, 1), (Names{"db"}));
  EXPECT_EQ(names_to_ask("db", {".", "a.test"}, 1), (Names{"db", "db.a.test"}));
}

}  // namespace
}  // namespace reprise::net
