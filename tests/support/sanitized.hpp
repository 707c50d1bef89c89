// Constants that are true if this test program was built with a sanitizer, which makes it slower.
#pragma once

namespace reprise::play {

#ifndef __has_feature
#define __has_feature(name) false
#define REPRISE_FEATURES_ARE_NOT_TOLD
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = __has_feature(thread_sanitizer);
#endif
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized =
    thread_sanitized || __has_feature(address_sanitizer) || __has_feature(memory_sanitizer);
#endif
#ifdef REPRISE_FEATURES_ARE_NOT_TOLD
#undef __has_feature
#undef REPRISE_FEATURES_ARE_NOT_TOLD
#endif

}  // namespace reprise::play
