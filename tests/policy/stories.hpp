// The stories of the policy tests: a scene, a script, and the expected transcript.
#pragma once

#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/laws.hpp"

namespace reprise::play {

using namespace std::chrono_literals;

struct Story {
  std::string name;
  Scene scene;
  Script script;
  std::string transcript;
};

// Prints a story's name in GoogleTest messages.
inline void PrintTo(const Story& story, std::ostream* out) { *out << story.name; }  // NOLINT

/// Returns the lists joined into one.
inline std::vector<Story> joined(std::initializer_list<std::vector<Story>> lists) {
  std::vector<Story> all;
  for (const std::vector<Story>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<Story> retry_stories();
std::vector<Story> connection_stories();
std::vector<Story> http2_stories();
std::vector<Story> grpc_stories();
std::vector<Story> limit_stories();
std::vector<Story> departure_stories();
std::vector<Story> resume_stories();
std::vector<Story> hold_stories();

inline std::vector<Story> all_stories() {
  return joined({retry_stories(), connection_stories(), http2_stories(), grpc_stories(), limit_stories(),
                 departure_stories(), resume_stories(), hold_stories()});
}

}  // namespace reprise::play
