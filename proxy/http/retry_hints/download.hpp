// Reads the facts that the policy needs to resume a download, and writes the request for the rest of the
// download.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/resume.hpp"

namespace reprise::http {

/// Reads the facts about a download from its request. The views are valid as long as the head's buffer.
/// `query` is raw, without '?'.
policy::DownloadRequest read_download_request(const RequestHead&, std::string_view query);
/// Reads the facts about a download from a response head. The response has the whole body or a part. The
/// views are valid as long as the head's buffer. `validators` is the list `resume.validators`; a validator is
/// ignored if it is a hop-by-hop field or if Connection lists it. `now_unix` determines the century of RFC
/// 850 dates.
policy::PartHead read_part_head(const ResponseHead&, const std::vector<std::string>& validators,
                                std::int64_t now_unix);

/// Appends the request head that asks for the rest of a download. `outgoing` is the head of earlier attempts
/// (write_request_head), with or without the blank line at its end; the result ends in the same way. Replaces
/// Range, If-Range and the client's own conditions (RFC 9110 13.1) with a Range and an If-Range at the end.
/// Removes an Upgrade, because the response has declined it (RFC 9110 7.8). All other bytes, including the
/// target, stay the same (row J11).
void write_range_request(std::string_view outgoing, const policy::RangeAsked&, std::string& out);

}  // namespace reprise::http
