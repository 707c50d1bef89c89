#include "tests/soak/plan.hpp"

namespace reprise::soak {
namespace {

constexpr std::array<std::string_view, behaviour_count> behaviour_words = {
    "plain",       "slow upload", "slow reader", "leaves early", "leaves in upload", "leaves in response",
    "half closes", "expects",     "pipelined",   "tunnels",      "ambiguous"};
static_assert(!behaviour_words.back().empty(), "each behaviour has its words");

struct FateRow {
  std::string_view word;
  std::uint64_t weight;  ///< per 10,000 attempts
};

// Name and frequency (in 10,000 attempts) of each fate, in the order of the enumerators. All other attempts
// are `fine`.
constexpr std::array<FateRow, fate_count> fate_rows = {{
    {"fine", 0},
    {"503", 150},
    {"503 with Retry-After", 10},
    {"503 with a long Retry-After", 10},
    {"429", 60},
    {"silence", 6},
    {"FIN before the head", 60},
    {"effect, then RST", 80},
    {"RST in the request", 60},
    {"FIN in the head", 30},
    {"RST in the head", 30},
    {"junk head", 30},
    {"head too large", 10},
    {"FIN in the body", 80},
    {"RST in the body", 80},
    {"FIN in a chunk", 30},
    {"no last chunk", 30},
    {"bad chunk", 30},
    {"1xx, then FIN", 30},
    {"1xx flood", 20},
    {"early response", 30},
    {"early refusal", 30},
    {"bytes behind the response", 40},
    {"two responses", 30},
    {"dribbled response", 40},
    {"until close", 60},
    {"until close, RST", 30},
    {"leaves after the response", 100},
}};
static_assert(!fate_rows.back().word.empty(), "each fate has its row");

constexpr std::uint64_t most_in_one_write = std::uint64_t{8} * 1024;

std::uint64_t draw_size(Chance& chance) {
  constexpr std::uint64_t kib = 1024;
  switch (chance.below(20)) {
    case 0: return 0;
    case 1: return 1;
    case 2:
    case 3: return chance.below(200 * kib);
    case 4:
    case 5:
    case 6: return chance.below(20 * kib);
    default: return 1 + chance.below(4 * kib);
  }
}

std::string_view draw_method(Chance& chance) {
  const std::uint64_t draw = chance.below(100);
  return draw < 42 ? "GET" : draw < 47 ? "HEAD" : draw < 67 ? "PUT" : draw < 90 ? "POST" : "DELETE";
}

Behaviour draw_behaviour(Chance& chance, std::string_view method) {
  const bool body = method == "PUT" || method == "POST";
  switch (chance.below(100)) {
    case 0: return Behaviour::tunnels;
    case 1: return Behaviour::ambiguous;
    case 2: return Behaviour::leaves_early;
    case 3: return method == "GET" ? Behaviour::leaves_in_response : Behaviour::plain;
    case 4:
    case 5: return body ? Behaviour::leaves_in_upload : Behaviour::half_closes;
    case 6:
    case 7:
    case 8:
    case 9: return body ? Behaviour::expects : Behaviour::slow_reader;
    case 10:
    case 11: return body ? Behaviour::slow_upload : Behaviour::slow_reader;
    default: return Behaviour::plain;
  }
}

Plan lost_post(Plan plan, Chance& chance) {
  plan.method = plan.number % 2 == 0 ? "GET" : "POST";
  plan.size = chance.below(8 * 1024);
  plan.chunked = chance.one_in(3);
  return plan;
}

// Returns true if the fate is possible for this request. If the fate is not possible, `fine` is played.
bool applies(Fate fate, const Plan& plan) {
  if (fate == Fate::early_response || fate == Fate::early_refusal || fate == Fate::reset_in_request) {
    return plan.sends_body() && plan.size > 0;
  }
  // Surplus bytes must arrive with the response. If they came later, the proxy could take them for the next
  // response.
  const bool surplus = fate == Fate::extra_bytes || fate == Fate::two_responses;
  if (surplus && plan.size > most_in_one_write) return false;
  const bool in_body = fate >= Fate::body_fin && fate <= Fate::bad_chunk;
  const bool until_close = fate == Fate::close_delimited || fate == Fate::close_delimited_reset;
  return !(in_body || until_close) || plan.method != "HEAD";
}

}  // namespace

std::string_view word(Behaviour behaviour) { return behaviour_words.at(static_cast<std::size_t>(behaviour)); }
std::string_view word(Fate fate) { return fate_rows.at(static_cast<std::size_t>(fate)).word; }

std::string Plan::path() const {
  const std::string_view folder = listener == Listener::flapping ? "/flapping/"
                                  : keyed                        ? "/keyed/"
                                  : held                         ? "/held/"
                                                                 : "/";
  return std::string(folder) + std::to_string(number);
}

Plan plan_of(const Mix& mix, std::uint64_t number) {
  Chance chance(mix.seed, Purpose::plan, number);
  Plan plan;
  plan.number = number;
  if (mix.lost_posts) return lost_post(plan, chance);
  plan.chunked = chance.one_in(3);
  plan.validated = !chance.one_in(5);
  plan.size = draw_size(chance);
  if (number % pipeline_every < pipeline_depth) {
    plan.behaviour = Behaviour::pipelined;
    return plan;
  }
  plan.method = draw_method(chance);
  plan.behaviour = draw_behaviour(chance, plan.method);
  plan.keyed = plan.method == "POST" && chance.one_in(4);
  plan.held = plan.method == "GET" && chance.one_in(8);
  const bool leaves =
      plan.behaviour >= Behaviour::leaves_early && plan.behaviour <= Behaviour::leaves_in_response;
  if (!leaves && !plan.keyed && !plan.held && chance.one_in(20)) plan.listener = Listener::flapping;
  if (plan.behaviour == Behaviour::tunnels) plan.listener = Listener::tunnel;
  if (plan.behaviour == Behaviour::leaves_in_upload) plan.size += 2;
  const bool long_response = plan.method == "GET" && chance.one_in(150);
  if (long_response || plan.behaviour == Behaviour::leaves_in_response) plan.size += chance.below(3 << 20);
  return plan;
}

Fate fate_of(const Mix& mix, const Plan& plan, unsigned attempt) {
  if (mix.lost_posts) return plan.method == "POST" ? Fate::lost : Fate::fine;
  if (plan.behaviour == Behaviour::leaves_early) return Fate::silence;
  if (plan.behaviour >= Behaviour::leaves_in_upload && plan.behaviour <= Behaviour::leaves_in_response)
    return Fate::fine;
  Chance chance(mix.seed, Purpose::fate, plan.number, attempt);
  std::uint64_t draw = chance.below(10'000);
  for (std::size_t i = 1; i < fate_rows.size(); ++i) {
    if (draw < fate_rows[i].weight) {
      const auto fate = static_cast<Fate>(i);
      return applies(fate, plan) ? fate : Fate::fine;
    }
    draw -= fate_rows[i].weight;
  }
  return Fate::fine;
}

std::uint64_t commit_byte(const Mix& mix, const Plan& plan, unsigned attempt) {
  Chance chance(mix.seed, Purpose::commit, plan.number, attempt);
  return plan.sends_body() ? chance.below(plan.size + 1) : 0;
}

}  // namespace reprise::soak
