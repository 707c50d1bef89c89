// Downloads: what their heads say that the policy needs
// to continue them, and the head that asks for the rest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/message/head.hpp"
#include "proxy/policy/decision/resume.hpp"

namespace reprise::http {

/// The views live as long as the head's buffer. `query` is raw, without '?'.
policy::DownloadRequest read_download_request(const RequestHead&, std::string_view query);
/// The views live as long as the head's buffer. `validators` as in `resume.validators`; a field that ends
/// with this hop, or that Connection lists, is none. `now_unix` places RFC 850 dates.
policy::PartHead read_part_head(const ResponseHead&, const std::vector<std::string>& validators,
                                std::int64_t now_unix);

/// Appends the head that asks for the rest to `out`. `outgoing` is what earlier attempts sent
/// (write_request_head), with or without the blank line at its end; so is the result. Range, If-Range and the
/// client's own conditions (RFC 9110 13.1) are left out, ours come last; so is an Upgrade, which the response
/// has declined (RFC 9110 7.8). Nothing else changes, and not a byte of the target (row J11).
void write_range_request(std::string_view outgoing, const policy::RangeAsked&, std::string& out);

}  // namespace reprise::http
