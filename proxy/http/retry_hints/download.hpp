// Reads what the policy needs to resume a download, and writes the request for the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/resume.hpp"

namespace reprise::http {

/// Reads the request of a download. The views are valid as long as the head's buffer. `query` is raw, without
/// '?'.
policy::DownloadRequest read_download_request(const RequestHead&, std::string_view query);
/// Reads the response head of a whole body or of a part. The views are valid as long as the head's buffer.
/// `validators` are those of `resume.validators`. Ignores a validator that is a hop-by-hop field or that
/// Connection lists. `now_unix` places RFC 850 dates.
policy::PartHead read_part_head(const ResponseHead&, const std::vector<std::string>& validators,
                                std::int64_t now_unix);

/// Appends the request head for the rest of a download. `outgoing` is the head of earlier attempts
/// (write_request_head), with or without the blank line at its end; the result keeps that form. Replaces
/// Range, If-Range and the client's own conditions (RFC 9110 13.1) with a Range and If-Range at the end.
/// Removes an Upgrade, which the response has declined (RFC 9110 7.8). All other bytes, including the target,
/// stay the same (row J11).
void write_range_request(std::string_view outgoing, const policy::RangeAsked&, std::string& out);

}  // namespace reprise::http
