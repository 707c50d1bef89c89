// Tests which downloads can be resumed, and which responses are the missing part: rows E1 to E11.
#include "proxy/policy/decision/resume.hpp"

#include <gtest/gtest.h>

#include "proxy/policy/pacing/dice.hpp"

namespace reprise::policy::resume_test {
namespace {

using Kind = Continuation::Kind;
constexpr std::uint64_t total = 100;

DownloadRequest get() {
  DownloadRequest request;
  request.get = true;
  return request;
}

DownloadRequest get_range(std::string_view range) {
  DownloadRequest request = get();
  request.range = range;
  return request;
}

PartHead whole() {
  PartHead head;
  head.status = 200;
  head.end = BodyEnd::length;
  head.length = total;
  head.entity_tag = "\"v1\"";
  head.content_type = "text/plain";
  return head;
}

PartHead part(std::string_view range, std::uint64_t length) {
  PartHead head = whole();
  head.status = 206;
  head.content_range = range;
  head.length = length;
  return head;
}

template <typename Change>
PartHead with(PartHead head, Change change) {
  change(head);
  return head;
}

bool begins(const DownloadRequest& request, const PartHead& head) {
  return Download::begin(request, head).has_value();
}

// Returns how a response to the resume request is judged when 40 bytes have arrived.
Kind after_40(const PartHead& first, const PartHead& head, const DownloadRequest& request = get()) {
  return Download::begin(request, first).value().judge(head, 40).kind;
}
Kind after_40(const PartHead& head) { return after_40(whole(), head); }
const PartHead rest = part("bytes 40-99/100", 60);

TEST(Resume, resume_requests_the_missing_range) {
  const Download download = Download::begin(get(), whole()).value();
  const RangeAsked asked = download.ask(40);
  EXPECT_EQ(asked.range, (ByteRange{40, std::nullopt}));
  EXPECT_EQ(asked.if_range, "\"v1\"");
  EXPECT_TRUE(download.has_rest(99));
  EXPECT_FALSE(download.has_rest(100));
  EXPECT_FALSE(download.has_rest(101));
}

TEST(Resume, response_206_must_continue_with_exactly_the_missing_bytes) {
  const Continuation found = Download::begin(get(), whole()).value().judge(rest, 40);
  EXPECT_EQ(found.kind, Kind::rest);
  EXPECT_EQ(found.bytes, 60U);
  EXPECT_EQ(found.skip, 0U);
  const auto chunked = with(rest, [](PartHead& h) { h.end = BodyEnd::last_chunk; });
  EXPECT_EQ(after_40(chunked), Kind::rest);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.end = BodyEnd::close; })), Kind::rest);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.content_type = ""; })), Kind::rest);
}

TEST(Resume, E1_response_200_is_accepted_if_nothing_differs) {
  const Continuation found = Download::begin(get(), whole()).value().judge(whole(), 40);
  EXPECT_EQ(found.kind, Kind::whole);
  EXPECT_EQ(found.skip, 40U);
  EXPECT_EQ(found.bytes, 60U);
  EXPECT_EQ(after_40(with(whole(), [](PartHead& h) { h.entity_tag = "\"v2\""; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(whole(), [](PartHead& h) { h.entity_tag = ""; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(whole(), [](PartHead& h) { h.length = 101; })), Kind::uncounted);
  EXPECT_EQ(after_40(with(whole(), [](PartHead& h) { h.length = 30; })), Kind::uncounted);
  EXPECT_EQ(after_40(with(whole(), [](PartHead& h) { h.end = BodyEnd::last_chunk; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(whole(), [](PartHead& h) { h.content_encoding = "gzip"; })), Kind::mismatch);
  // Row E1 compares the length. A Content-Range in a 200 has no meaning (RFC 9110 14.4).
  for (const char* range : {"bytes 0-99/100", "bytes 40-99/100", "junk"}) {
    const PartHead said = with(whole(), [&](PartHead& h) { h.content_range = range; });
    EXPECT_EQ(after_40(said), Kind::whole) << range;
    EXPECT_EQ(after_40(with(said, [](PartHead& h) { h.length = 60; })), Kind::uncounted) << range;
  }
}

TEST(Resume, E1_response_200_is_a_mismatch_if_the_client_has_already_received_every_byte) {
  Download download = Download::begin(get(), whole()).value();
  EXPECT_EQ(download.judge(whole(), 99).bytes, 1U);
  for (const std::uint64_t sent : {total, total + 1}) {
    EXPECT_EQ(download.judge(whole(), sent).kind, Kind::mismatch) << sent;
  }
}

TEST(Resume, E1_response_200_to_a_client_range_is_a_mismatch) {
  const auto request = get_range("bytes=0-49");
  const PartHead first = part("bytes 0-49/100", 50);
  EXPECT_EQ(after_40(first, whole(), request), Kind::mismatch);
  EXPECT_EQ(after_40(first, with(whole(), [](PartHead& h) { h.length = 50; }), request), Kind::mismatch);
}

TEST(Resume, E1_response_200_without_a_strong_tag_is_a_mismatch) {
  const auto dated = [](PartHead& h) {
    h.entity_tag = "";
    h.last_modified = "then";
    h.last_modified_at = 1000;
    h.date = 2000;
  };
  EXPECT_EQ(after_40(with(whole(), dated), with(rest, dated)), Kind::rest);
  EXPECT_EQ(after_40(with(whole(), dated), with(whole(), dated)), Kind::mismatch);
}

TEST(Resume, E2_resume_needs_a_strong_entity_tag) {
  const auto tagged = [](std::string_view tag) {
    return with(whole(), [&](PartHead& h) { h.entity_tag = tag; });
  };
  EXPECT_TRUE(begins(get(), tagged("\"\"")));
  EXPECT_FALSE(begins(get(), tagged("")));
  EXPECT_FALSE(begins(get(), tagged("W/\"v1\"")));
  EXPECT_FALSE(begins(get(), tagged("v1")));
}

TEST(Resume, E2_last_modified_older_than_a_minute_suffices_without_a_tag) {
  const auto dated = [](std::string_view tag, std::optional<std::int64_t> modified,
                        std::optional<std::int64_t> date) {
    return with(whole(), [&](PartHead& h) {
      h.entity_tag = tag;
      h.last_modified = "then";
      h.last_modified_at = modified;
      h.date = date;
    });
  };
  const PartHead settled = dated("", 1000, 1060);
  ASSERT_TRUE(begins(get(), settled));
  EXPECT_EQ(Download::begin(get(), settled).value().ask(1).if_range, "then");
  EXPECT_FALSE(begins(get(), dated("", 1000, 1059)));
  EXPECT_FALSE(begins(get(), dated("", 2000, 1000)));
  EXPECT_FALSE(begins(get(), dated("", std::nullopt, 1060)));
  EXPECT_FALSE(begins(get(), dated("", 1000, std::nullopt)));
  EXPECT_FALSE(begins(get(), dated("W/\"v1\"", 1000, 1060)));
  EXPECT_FALSE(begins(get(), dated("v1", 1000, 1060)));
  const auto later = [&](std::string_view tag, std::string_view modified) {
    return with(rest, [&](PartHead& h) {
      h.entity_tag = tag;
      h.last_modified = modified;
    });
  };
  EXPECT_EQ(after_40(settled, later("", "then")), Kind::rest);
  EXPECT_EQ(after_40(settled, later("", "now")), Kind::mismatch);
  EXPECT_EQ(after_40(settled, later("", "")), Kind::mismatch);
  EXPECT_EQ(after_40(settled, later("\"v1\"", "then")), Kind::mismatch);
}

TEST(Resume, E3_wrong_content_range_is_a_mismatch) {
  for (const char* range :
       {"", "bytes 39-99/100", "bytes 41-99/100", "bytes 0-99/100", "bytes 40-98/100", "bytes 40-98/99",
        "bytes 40-100/101", "bytes 40-99/101", "bytes 40-39/100", "bytes 40-99/99", "items 40-99/100",
        "bytes */100", "bytes 40-99/18446744073709551616", "40-99/100"}) {
    const auto parsed = parse_content_range(range);
    const PartHead lying = part(range, parsed ? parsed->bytes() : 60);
    EXPECT_EQ(after_40(lying), Kind::mismatch) << range;
  }
}

TEST(Resume, E4_part_of_unknown_complete_length_must_end_where_the_first_response_would_end) {
  const PartHead open = part("bytes 40-99/*", 60);
  EXPECT_EQ(after_40(open), Kind::rest);
  EXPECT_EQ(after_40(part("bytes 41-99/*", 59)), Kind::mismatch);
  EXPECT_EQ(after_40(part("bytes 40-98/*", 59)), Kind::mismatch);
  const PartHead endless = with(whole(), [](PartHead& h) { h.end = BodyEnd::last_chunk; });
  EXPECT_EQ(after_40(endless, open), Kind::mismatch);
}

TEST(Resume, E5_content_length_that_contradicts_its_range_is_a_mismatch) {
  EXPECT_EQ(after_40(part("bytes 40-99/100", 61)), Kind::mismatch);
  EXPECT_EQ(after_40(part("bytes 40-99/100", 59)), Kind::mismatch);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.end = BodyEnd::none; })), Kind::mismatch);
}

TEST(Resume, E6_multipart_ranges_are_not_resumed) {
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.content_type = "Multipart/ByteRanges; boundary=x"; })),
            Kind::mismatch);
  EXPECT_FALSE(begins(get_range("bytes=0-49"), with(part("bytes 0-49/100", 50), [](PartHead& h) {
                        h.content_type = "multipart/byteranges; boundary=x";
                      })));
}

TEST(Resume, E7_any_difference_in_the_validators_or_the_coding_is_a_mismatch) {
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.entity_tag = "\"v2\""; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.entity_tag = "W/\"v1\""; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.entity_tag = ""; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.content_encoding = "gzip"; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.content_encoding = "identity"; })), Kind::rest);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.content_type = "text/html"; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.doubled = true; })), Kind::mismatch);
  EXPECT_EQ(after_40(with(rest, [](PartHead& h) { h.has_trailer = true; })), Kind::mismatch);
}

TEST(Resume, E7_encoded_bodies_are_not_resumed) {
  EXPECT_FALSE(begins(get(), with(whole(), [](PartHead& h) { h.content_encoding = "gzip"; })));
  EXPECT_TRUE(begins(get(), with(whole(), [](PartHead& h) { h.content_encoding = "Identity"; })));
  EXPECT_FALSE(begins(get(), with(whole(), [](PartHead& h) { h.doubled = true; })));
  EXPECT_FALSE(begins(get(), with(whole(), [](PartHead& h) { h.has_trailer = true; })));
}

TEST(Resume, E8_download_of_a_client_range_is_resumed_at_absolute_offsets) {
  const auto request = get_range("bytes=20-69");
  Download download = Download::begin(request, part("bytes 20-69/100", 50)).value();
  EXPECT_EQ(download.ask(40).range, (ByteRange{60, 69}));
  EXPECT_EQ(download.judge(part("bytes 60-69/100", 10), 40).kind, Kind::rest);
  EXPECT_EQ(download.judge(part("bytes 40-69/100", 30), 40).kind, Kind::mismatch);
  EXPECT_EQ(download.judge(part("bytes 60-99/100", 40), 40).kind, Kind::mismatch);
  EXPECT_EQ(download.judge(part("bytes 60-69/101", 10), 40).kind, Kind::mismatch);
  EXPECT_TRUE(download.has_rest(49));
  EXPECT_FALSE(download.has_rest(50));
  // `bytes=20-` ends at the position that the first response named.
  const Download open = Download::begin(get_range("bytes=20-"), part("bytes 20-99/100", 80)).value();
  EXPECT_EQ(open.ask(40).range, (ByteRange{60, 99}));
  // An upstream without range support sends the whole body.
  const Download all = Download::begin(request, whole()).value();
  EXPECT_EQ(all.ask(40).range, (ByteRange{40, std::nullopt}));
}

TEST(Resume, E8_chunked_206_response_to_a_client_range_ends_where_its_content_range_says) {
  const PartHead chunked = with(part("bytes 20-69/100", 0), [](PartHead& h) { h.end = BodyEnd::last_chunk; });
  const Download download = Download::begin(get_range("bytes=20-69"), chunked).value();
  EXPECT_EQ(download.ask(40).range, (ByteRange{60, 69}));
  EXPECT_FALSE(download.has_rest(50));
}

TEST(Resume, E8_part_with_another_complete_length_is_a_mismatch) {
  const PartHead first = part("bytes 10-89/1000", 80);
  EXPECT_EQ(after_40(first, part("bytes 50-89/1000", 40), get_range("bytes=10-89")), Kind::rest);
  EXPECT_EQ(after_40(first, part("bytes 50-89/2000", 40), get_range("bytes=10-89")), Kind::mismatch);
}

TEST(Resume, E8_suffix_or_multiple_or_conditional_ranges_of_a_client_are_not_resumed) {
  const PartHead first = part("bytes 20-69/100", 50);
  for (const char* range :
       {"", "bytes=-80", "bytes=20-69,80-89", "items=20-69", "bytes=21-69", "bytes=20-68"})
    EXPECT_FALSE(begins(get_range(range), first)) << range;
  for (const char* range : {"bytes=-100", "bytes=0-9,20-29", "items=1-2"})
    EXPECT_FALSE(begins(get_range(range), whole())) << range;
  DownloadRequest conditional = get_range("bytes=20-69");
  conditional.conditional = true;
  EXPECT_FALSE(begins(conditional, first));
  DownloadRequest doubled = get_range("bytes=20-69");
  doubled.doubled = true;
  EXPECT_FALSE(begins(doubled, first));
  EXPECT_FALSE(begins(get_range("bytes=20-69"), part("bytes 20-69/100", 49)));
  EXPECT_FALSE(begins(get_range("bytes=20-69"), part("", 50)));
}

TEST(Resume, E9_statuses_other_than_200_and_206_end_the_resume) {
  for (const int status : {204, 301, 307, 401, 404, 408, 412, 416, 429, 500, 503})
    EXPECT_EQ(after_40(with(rest, [&](PartHead& h) { h.status = status; })), Kind::refused) << status;
}

TEST(Resume, E10_only_get_responses_with_a_body_of_known_end_are_resumed) {
  DownloadRequest head = get();
  head.get = false;
  EXPECT_FALSE(begins(head, whole()));
  DownloadRequest upload = get();
  upload.has_body = true;
  EXPECT_FALSE(begins(upload, whole()));
  for (const int status : {201, 203, 204, 304, 404, 503})
    EXPECT_FALSE(begins(get(), with(whole(), [&](PartHead& h) { h.status = status; }))) << status;
  EXPECT_FALSE(begins(get(), with(whole(), [](PartHead& h) { h.length = 0; })));
  EXPECT_FALSE(begins(get(), with(whole(), [](PartHead& h) { h.end = BodyEnd::none; })));
  EXPECT_FALSE(begins(get(), with(whole(), [](PartHead& h) { h.end = BodyEnd::close; })));
  const PartHead said = with(whole(), [](PartHead& h) { h.content_range = "bytes 7-99/100"; });
  EXPECT_TRUE(begins(get(), said)) << "in a 200 it means nothing";
  EXPECT_EQ(Download::begin(get(), said).value().ask(40).range, (ByteRange{40, std::nullopt}));
  EXPECT_FALSE(begins(get_range("bytes=7-"), said)) << "a part with a wrong status, perhaps";
  EXPECT_TRUE(begins(get_range("bytes=7-"), whole()));
}

TEST(Resume, E10_chunked_response_needs_a_206_with_the_complete_length) {
  const PartHead chunked = with(whole(), [](PartHead& h) { h.end = BodyEnd::last_chunk; });
  Download download = Download::begin(get(), chunked).value();
  EXPECT_TRUE(download.has_rest(1'000'000));
  EXPECT_EQ(download.judge(with(whole(), [](PartHead&) {}), 40).kind, Kind::mismatch);
  EXPECT_EQ(download.judge(chunked, 40).kind, Kind::mismatch);
  EXPECT_EQ(download.judge(part("bytes 40-98/100", 59), 40).kind, Kind::mismatch);
  EXPECT_EQ(download.judge(rest, 40).kind, Kind::rest);
  // If a response has named the total length, no later response may name another length.
  EXPECT_EQ(download.judge(part("bytes 50-100/101", 51), 50).kind, Kind::mismatch);
  EXPECT_EQ(download.judge(part("bytes 50-99/*", 50), 50).kind, Kind::rest);
  EXPECT_FALSE(download.has_rest(100));
}

TEST(Resume, E11_requests_with_signed_fields_are_not_resumed) {
  DownloadRequest by_field = get();
  by_field.fields_signed = true;
  EXPECT_FALSE(begins(by_field, whole()));
}

// Returns a change that sets the version field at index `place` of `resume.validators`, and the entity tag.
auto version(std::string_view value, std::string_view tag = "", std::size_t place = 1) {
  return [=](PartHead& h) {
    h.versions[place] = value;
    h.entity_tag = tag;
  };
}

TEST(ResumeByField, version_field_replaces_a_strong_tag) {
  const PartHead first = with(whole(), version("17"));
  const RangeAsked asked = Download::begin(get(), first).value().ask(40);
  EXPECT_EQ(asked.range, (ByteRange{40, std::nullopt}));
  EXPECT_EQ(asked.if_range, "") << "a field is no condition";
  EXPECT_EQ(after_40(first, with(rest, version("17"))), Kind::rest);
  EXPECT_EQ(after_40(first, with(whole(), version("17"))), Kind::whole);
  for (const char* other : {"18", "", "17 ", "017"}) {
    EXPECT_EQ(after_40(first, with(rest, version(other))), Kind::mismatch) << other;
    EXPECT_EQ(after_40(first, with(whole(), version(other))), Kind::mismatch) << other;
  }
  EXPECT_EQ(after_40(with(whole(), version("aB")), with(rest, version("Ab"))), Kind::mismatch);
  EXPECT_EQ(after_40(first, with(rest, version("17", "", 2))), Kind::mismatch) << "under another name";
}

TEST(ResumeByField, E2_version_field_suffices_without_a_strong_tag) {
  for (const char* tag : {"", "W/\"v1\"", "CJ8="}) {
    const PartHead first = with(whole(), version("17", tag));
    ASSERT_TRUE(begins(get(), first)) << tag;
    EXPECT_EQ(Download::begin(get(), first).value().ask(40).if_range, "") << tag;
    EXPECT_EQ(after_40(first, with(rest, version("17", tag))), Kind::rest) << tag;
    const Kind of_another = std::string_view(tag).empty() ? Kind::rest : Kind::mismatch;
    EXPECT_EQ(after_40(first, with(rest, version("17", "W/\"v2\""))), of_another) << tag;
    EXPECT_EQ(after_40(first, with(rest, version("17"))), Kind::rest) << tag;
    EXPECT_EQ(after_40(first, with(rest, version("18", tag))), Kind::mismatch) << tag;
  }
}

TEST(ResumeByField, E2_weak_tags_are_compared_weakly_if_both_responses_have_one) {
  const PartHead weak = with(whole(), version("17", "W/\"v1\""));
  for (const char* later : {"W/\"v1\"", "\"v1\"", ""}) {
    EXPECT_EQ(after_40(weak, with(rest, version("17", later))), Kind::rest) << later;
    EXPECT_EQ(after_40(weak, with(whole(), version("17", later))), Kind::whole) << later;
  }
  for (const char* later : {"\"v2\"", "W/\"v2\"", "v1", "w/\"v1\""})
    EXPECT_EQ(after_40(weak, with(rest, version("17", later))), Kind::mismatch) << later;
  EXPECT_EQ(after_40(with(whole(), version("17")), with(rest, version("17", "\"v1\""))), Kind::rest);
  // A strong tag is sent in If-Range, and the response must repeat it unchanged.
  const PartHead strong = with(whole(), version("17", "\"v1\""));
  for (const char* later : {"W/\"v1\"", ""})
    EXPECT_EQ(after_40(strong, with(rest, version("17", later))), Kind::mismatch) << later;
}

TEST(ResumeByField, malformed_version_values_prevent_a_resume) {
  for (const char* junk : {"", ",", "17,18", "17, 17", "null", "NULL"}) {
    const PartHead first = with(whole(), version(junk));
    EXPECT_FALSE(begins(get(), first)) << junk;
    EXPECT_FALSE(Download::can_begin(get(), first)) << junk;
  }
  EXPECT_TRUE(begins(get(), with(whole(), version("nullable"))));
}

TEST(ResumeByField, resume_needs_a_match_of_all_listed_version_fields) {
  const auto two = [](std::string_view one, std::string_view other) {
    return [=](PartHead& h) {
      h.entity_tag = "";
      h.versions[1] = one;
      h.versions[most_validators - 1] = other;
    };
  };
  const PartHead first = with(whole(), two("17", "a"));
  EXPECT_EQ(after_40(first, with(rest, two("17", "a"))), Kind::rest);
  EXPECT_EQ(after_40(first, with(rest, two("17", "b"))), Kind::mismatch);
  EXPECT_EQ(after_40(first, with(rest, two("17", ""))), Kind::mismatch);
  EXPECT_EQ(after_40(with(whole(), two("17", "")), with(rest, two("17", "a"))), Kind::mismatch);
  EXPECT_EQ(after_40(with(whole(), two("17", "null")), with(rest, two("17", "null"))), Kind::rest);
}

TEST(ResumeByField, version_field_beside_a_strong_etag_may_be_missing_in_the_206_but_must_not_differ) {
  const PartHead tagged = with(whole(), version("17", "\"v1\""));
  EXPECT_EQ(Download::begin(get(), tagged).value().ask(40).if_range, "\"v1\"");
  EXPECT_EQ(after_40(tagged, with(rest, version("17", "\"v1\""))), Kind::rest);
  EXPECT_EQ(after_40(tagged, with(rest, version("", "\"v1\""))), Kind::rest);
  EXPECT_EQ(after_40(tagged, with(rest, version("18", "\"v1\""))), Kind::mismatch);
  EXPECT_EQ(after_40(whole(), with(rest, version("18", "\"v1\""))), Kind::rest);
}

TEST(ResumeByField, last_modified_is_not_sent_if_a_version_field_is_used) {
  const auto dated = [](std::string_view value) {
    return [=](PartHead& h) {
      version(value)(h);
      h.last_modified = "then";
      h.last_modified_at = 1000;
      h.date = 2000;
    };
  };
  const PartHead first = with(whole(), dated("17"));
  EXPECT_EQ(Download::begin(get(), first).value().ask(40).if_range, "");
  const PartHead by_date = with(whole(), dated(""));
  EXPECT_EQ(after_40(by_date, with(rest, dated("18"))), Kind::rest) << "only what both have is compared";
  EXPECT_EQ(after_40(with(whole(), dated("null")), with(rest, dated("18"))), Kind::mismatch);
}

TEST(ResumeByField, entity_tags_are_ignored_if_etag_is_not_listed) {
  const auto untrusted = [](std::string_view value, std::string_view tag) {
    return [=](PartHead& h) {
      version(value, tag)(h);
      h.uses_tags = false;
    };
  };
  EXPECT_FALSE(begins(get(), with(whole(), untrusted("", "\"v1\""))));
  const PartHead first = with(whole(), untrusted("17", "\"v1\""));
  EXPECT_EQ(Download::begin(get(), first).value().ask(40).if_range, "");
  EXPECT_EQ(after_40(first, with(rest, untrusted("17", "\"v2\""))), Kind::rest);
  EXPECT_EQ(after_40(first, with(rest, untrusted("18", "\"v1\""))), Kind::mismatch);
  const PartHead dated = with(whole(), [&](PartHead& h) {
    untrusted("", "\"v1\"")(h);
    h.last_modified = "then";
    h.last_modified_at = 1000;
    h.date = 2000;
  });
  EXPECT_FALSE(begins(get(), dated)) << "no date where there is a tag (RFC 9110 13.1.5)";
}

// The request had no If-Range, so the 200 only means that the server ignored the range this time.
TEST(ResumeByField, incomplete_200_response_of_unknown_length_leads_to_another_range_request) {
  const auto endless = [](std::string_view value, BodyEnd end) {
    return [=](PartHead& h) {
      version(value)(h);
      h.end = end;
    };
  };
  const PartHead first = with(whole(), version("17"));
  EXPECT_EQ(after_40(first, with(whole(), endless("17", BodyEnd::last_chunk))), Kind::uncounted);
  EXPECT_EQ(after_40(first, with(whole(), endless("17", BodyEnd::close))), Kind::uncounted);
  EXPECT_EQ(after_40(first, with(whole(), endless("18", BodyEnd::last_chunk))), Kind::mismatch);
  const PartHead coded = with(whole(), [&](PartHead& h) {
    endless("17", BodyEnd::last_chunk)(h);
    h.content_encoding = "gzip";
  });
  EXPECT_EQ(after_40(first, coded), Kind::mismatch);
  const PartHead longer = with(first, [](PartHead& h) { h.length = 101; });
  EXPECT_EQ(after_40(first, longer), Kind::uncounted) << "the field proves the version: one more break";
  // After a complete response of unknown length, the next resume works as if that response had been the
  // first.
  const PartHead chunked = with(whole(), endless("17", BodyEnd::last_chunk));
  Download download = Download::begin(get(), chunked).value();
  EXPECT_EQ(download.judge(chunked, 40).kind, Kind::uncounted);
  EXPECT_EQ(download.judge(with(rest, version("17")), 40).kind, Kind::rest);
  const PartHead part_of_it = with(part("bytes 10-89/100", 80), version("17"));
  EXPECT_EQ(after_40(part_of_it, chunked, get_range("bytes=10-89")), Kind::mismatch);
}

// A simulated server sends a response that is correct or has one or more wrong values. A response that is
// accepted as the rest must have exactly the missing bytes.
TEST(Resume, accepted_continuations_are_exactly_the_missing_bytes) {
  SeededDice dice(7);
  unsigned accepted = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t size = 1 + dice.roll(20);
    const bool chunked = dice.roll(3) == 0;
    PartHead first = with(whole(), [&](PartHead& h) { h.length = size; });
    if (chunked) first.end = BodyEnd::last_chunk;
    Download download = Download::begin(get(), first).value();
    const std::uint64_t sent = dice.roll(size - 1);
    const std::uint64_t from = dice.roll(3) == 0 ? dice.roll(size + 2) : sent;
    const std::uint64_t to = dice.roll(3) == 0 ? dice.roll(size + 2) : size - 1;
    const std::uint64_t said = dice.roll(3) == 0 ? dice.roll(size + 2) : size;
    const bool open = dice.roll(4) == 0;
    const std::string range = "bytes " + std::to_string(from) + "-" + std::to_string(to) + "/" +
                              (open ? "*" : std::to_string(said));
    PartHead head = part(range, dice.roll(4) == 0 ? dice.roll(size + 2) : to - from + 1);
    if (dice.roll(4) == 0) head.end = BodyEnd::last_chunk;
    const Continuation found = download.judge(head, sent);
    const bool counted = head.end == BodyEnd::length;
    // A chunked first response has no length with which the total in the 206 could be compared.
    const std::uint64_t end = chunked ? said : size;
    const std::uint64_t missing = end - sent;
    const bool honest = from == sent && to >= from && to + 1 == end && (open ? !chunked : said == end) &&
                        (!counted || head.length == missing);
    ASSERT_EQ(found.kind == Kind::rest, honest) << range << " after " << sent << " of " << size;
    if (!honest) continue;
    ++accepted;
    ASSERT_EQ(found.bytes, missing);
  }
  EXPECT_GT(accepted, 10'000U);
}

}  // namespace
}  // namespace reprise::policy::resume_test
