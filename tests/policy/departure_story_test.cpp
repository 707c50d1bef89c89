// Tests stories in which the client closes or resets, or reprise shuts down, in every state of the exchange.
#include <gtest/gtest.h>

#include "tests/policy/stories.hpp"

namespace reprise::play {
namespace {

constexpr auto fin = Interruption::fin;
constexpr auto rst = Interruption::rst;
constexpr auto shutdown = Interruption::shutdown;

std::vector<Story> half_closed() {
  return {
      {"fin_during_an_attempt_keeps_its_response",
       get(),
       {status(200).takes(2s).attempt_sees(fin)},
       "FIN during attempt 1 | noted\n"
       "attempt 1 -> 200 | deliver (success)\n"},
      {"fin_during_an_attempt_ends_the_retries",
       get().budget(3),
       {status(503).takes(2s).attempt_sees(fin)},
       "FIN during attempt 1 | noted\n"
       "attempt 1 -> 503 | deliver (client_gone)\n"},
      {"fin_during_an_attempt_that_fails",
       get(),
       {refused.attempt_sees(fin)},
       "FIN during attempt 1 | noted\n"
       "attempt 1 -> connect refused | fail (client_gone)\n"},
      {"fin_during_the_second_attempt_gives_the_kept_response",
       get(),
       {status(503), refused.attempt_sees(fin)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "FIN during attempt 2 | noted\n"
       "attempt 2 -> connect refused | deliver 1 (client_gone)\n"},
      {"fin_hides_no_other_reason",
       post(),
       {status(503).attempt_sees(fin)},
       "FIN during attempt 1 | noted\n"
       "attempt 1 -> 503 | deliver (not_idempotent)\n"},
  };
}

std::vector<Story> half_closed_later() {
  return {
      {"fin_during_the_wait",
       get().budget(1),
       {status(503).wait_sees(fin)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "FIN during the wait | deliver (client_gone)\n"},
      {"fin_during_the_wait_while_the_response_is_read",
       get().budget(1),
       {status(503).wait_sees(fin).response(Keeping::still_reading)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "FIN during the wait | deliver (client_gone)\n"},
      {"fin_during_the_wait_without_the_response",
       get().budget(1),
       {status(503).wait_sees(fin).response(Keeping::dropped)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "FIN during the wait | fail (client_gone)\n"},
      {"fin_during_the_wait_after_a_failure",
       get().budget(1),
       {refused.wait_sees(fin)},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "FIN during the wait | fail (client_gone)\n"},
      {"fin_during_the_body",
       get(),
       {status(200).body_sees(fin)},
       "attempt 1 -> 200 | deliver (success)\n"
       "FIN during the body | noted\n"},
      {"fin_during_a_body_that_breaks",
       get(),
       {status(200).body_sees(fin).body_breaks()},
       "attempt 1 -> 200 | deliver (success)\n"
       "FIN during the body | noted\n"
       "the body breaks | cut (response_started)\n"},
  };
}

std::vector<Story> resets() {
  return {
      {"rst_during_an_attempt",
       get(),
       {status(200).attempt_sees(rst)},
       "RST during attempt 1 | cancel 1, leave (client_gone)\n"},
      {"rst_during_the_second_attempt",
       get().budget(1),
       {status(503), status(200).attempt_sees(rst)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "RST during attempt 2 | cancel 2, leave (client_gone)\n"},
      {"rst_during_the_wait",
       get().budget(1),
       {status(503).wait_sees(rst)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "RST during the wait | leave (client_gone)\n"},
      {"rst_during_the_body",
       get(),
       {status(200).body_sees(rst)},
       "attempt 1 -> 200 | deliver (success)\n"
       "RST during the body | cancel 1, leave (client_gone)\n"},
      {"rst_during_the_body_of_a_kept_response",
       get().attempts(2),
       {status(503), refused.body_sees(rst)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "attempt 2 -> connect refused | deliver 1 (attempts_spent)\n"
       "RST during the body | cancel 1, leave (client_gone)\n"},
  };
}

std::vector<Story> shutdowns() {
  return {
      {"shutdown_during_an_attempt_keeps_its_response",
       get(),
       {status(200).attempt_sees(shutdown)},
       "shutdown during attempt 1 | noted\n"
       "attempt 1 -> 200 | deliver (success)\n"},
      {"shutdown_during_an_attempt_ends_the_retries",
       get().budget(1),
       {status(503).attempt_sees(shutdown)},
       "shutdown during attempt 1 | noted\n"
       "attempt 1 -> 503 | deliver (shutting_down)\n"},
      {"shutdown_during_the_wait",
       get().budget(1),
       {status(503).wait_sees(shutdown)},
       "attempt 1 -> 503 | sleep 250ms\n"
       "shutdown during the wait | deliver (shutting_down)\n"},
      {"shutdown_during_the_wait_after_a_failure",
       get().budget(1),
       {refused.wait_sees(shutdown)},
       "attempt 1 -> connect refused | sleep 250ms\n"
       "shutdown during the wait | fail (shutting_down)\n"},
      {"shutdown_during_the_body",
       get(),
       {status(200).body_sees(shutdown)},
       "attempt 1 -> 200 | deliver (success)\n"
       "shutdown during the body | noted\n"},
  };
}

class Departure : public testing::TestWithParam<Story> {};

TEST_P(Departure, scenario_has_the_expected_transcript) {
  EXPECT_EQ(play(GetParam().scene, GetParam().script), GetParam().transcript);
}

INSTANTIATE_TEST_SUITE_P(Stories, Departure, testing::ValuesIn(departure_stories()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace

std::vector<Story> departure_stories() {
  return joined({half_closed(), half_closed_later(), resets(), shutdowns()});
}

}  // namespace reprise::play
