#!/usr/bin/env python3
"""Plants one-line defects, one at a time: policy_test, http_test, or for the rooms above the sockets the simulation, must fail each time.

    python3 tests/mutate.py                 plants them all; the last line is `N passed, N failed, N skipped`
    python3 tests/mutate.py --floor http    those of one floor
    python3 tests/mutate.py --only 7        number 7 alone, as --list counts them
    python3 tests/mutate.py --check     only that every text still occurs exactly once in its file

The tree is not touched: a changed file is compiled in a temporary folder, into a copy of its library.
"""
import argparse
import concurrent.futures
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from guard_mutants import HTTP_MUTANTS
from net_mutants import NET_MUTANTS
import chance
from junit import Suite

ROOT = Path(__file__).resolve().parent.parent
# Seconds; a test program that runs longer has noticed. Two hundred thousand stories take a minute on a quiet machine.
LIMITS = {"policy_test": 120, "explain_test": 120, "http_test": 120, "net_stories": 600}

# (file of proxy/policy, its text, what stands there instead). A defect that changes nothing that can be seen is not
# in the table: before one is taken out, say here why.
#   decide: `attempt.charged >= most` as `==`: charged grows by one, and most is at least 1.
#   backoff: `!(grown < maximum)` as `grown > maximum`: the same but for no number, which an initial wait of 0 alone gives.
#   byte_range: `slash < dash`: the number before the dash would have a slash in it.
#   slot_ring: `std::min(newest_ - before, slots)` without its min: it only spares work.
#   exchange: start_next() and resume_next() without `withdrawn_.reset()`: whatever waits and has a budget has withdrawn anew.
#   exchange_hedge: forget() of the first copy: once its copy was let in, it has no probe's place any more.
#   rehearsal: `reused_ = false` of a fresh start: there is one free retry, and explain says nothing of the later connections.
#   exchange: response_kept() for an older response: that one was whole, or it would have been dropped.
#   exchange: `stale_retry_used_` left out of attempt_now(): then stale retries have no end; that is planted in go_on_at_once.
MUTANTS = [
    ("decide", "if (!attempt.reused || ", "if ("),
    ("decide", "|| attempt.stale_retry_used ", ""),
    ("decide", " || failed.cause == Cause::unacknowledged;", ";"),
    ("idle_life", "std::clamp(rest / 2, least, most)", "std::clamp(rest, least, most)"),
    ("idle_life", "std::min(half, limit(now).value_or(most))", "half"),
    ("idle_life", "  since_ = now;\n", ""),
    ("idle_life", "    limit_ *= 2;\n", ""),
    ("idle_life", "    if (limit_ > most) limit_ = Duration::zero();\n", ""),
    ("decide", " || !attempt.replayable) return false;", ") return false;"),
    ("decide", "return answered->status == misdirected_request;", "return false;"),
    ("decide", "return answered->status == misdirected_request;", "return answered->status == misdirected_request - 1;"),
    ("decide", "failed.cause == Cause::closed || ", ""),
    ("decide", "ended && before_response && (", "ended && ("),
    ("decide", "ended && before_response", "before_response"),
    ("decide", "(attempt.sent == Sent::nothing || repeatable)", "true"),
    ("decide", "(attempt.sent == Sent::nothing || repeatable)", "repeatable"),
    ("decide", "answered->status < 400 &&", "answered->status <= 400 &&"),
    ("decide", "status < 400 && !on.lists(outcome)", "status < 400"),
    ("outcome", "failed->stage < Stage::send || all_unsent", "failed->stage <= Stage::send || all_unsent"),
    ("decide", "is_unsent(outcome, attempt.sent == Sent::nothing)", "is_unsent(outcome, false)"),
    ("gates", "honour ? said : Hints{}", "honour ? said : said"),
    ("decide", "most = std::chrono::seconds(5)", "most = std::chrono::seconds(6)"),
    ("decide", "value_or(backoff), backoff, backoff + most)", "value_or(backoff), Duration::zero(), backoff + most)"),
    ("gates", "|| at <= *facts.signed_until", "|| at < *facts.signed_until"),
    ("decide", "is_in_time(deadline, now) && is_signed_at(facts, now)", "is_in_time(deadline, now)"),
    ("gates", "!deadline || at <= *deadline", "!deadline || at < *deadline"),
    ("decide", "last_closed_gate(facts, policy, now + delay, budget_left)", "last_closed_gate(facts, policy, now, budget_left)"),
    ("gates", "if (!is_signed_at(facts, sent_at)) return", "if (false) return"),
    ("gates", "if (is_budget_empty(budget_left)) return", "if (false) return"),
    ("decide", "if (hints_of(attempt, outcome).said_no)", "if (false)"),
    ("decide", "hints.said_no = hints.said_no || other.said_no;", ""),
    ("decide", "hints.retry_after = std::max(hints.retry_after, other.retry_after);", ""),
    ("decide", "hints.aws_retry_after = std::max(hints.aws_retry_after, other.aws_retry_after);", ""),
    ("decide", "if (answered == nullptr) return attempt.other_copy;", "if (answered == nullptr) return {};"),
    ("exchange_hedge", "left.retry_after = less(left.retry_after);", ""),
    ("exchange_hedge", "left.aws_retry_after = less(left.aws_retry_after);", ""),
    ("gates", "facts.nested && policy", "policy"),
    ("decide", "facts.idempotent != Idempotency::yes && !", "facts.idempotent == Idempotency::no && !"),
    ("decide", "Idempotency::yes && !is_unsent(outcome, attempt.sent == Sent::nothing))", "Idempotency::yes)"),
    ("decide", "if (is_lost(outcome)) return Reason::not_replayable;", ""),
    ("decide", "retried && !refused && !facts.no_store", "retried && !refused"),
    ("decide", "retried && !refused && !facts.no_store", "retried && !facts.no_store"),
    ("decide", "&& !are_attempts_spent(1, policy.retry.max_attempts)", ""),
    ("decide", "const bool refused = refuses_nested_client(facts, policy);", "const bool refused = policy.retry.nested == Nested::refuse;"),
    ("gates", "hints.from_reprise && policy", "policy"),
    ("gates", "hints.from_reprise && policy.retry.inner == Nested::refuse", "hints.from_reprise"),
    ("decide_resume", "if (refuses_retried_response(hints, policy)) return", "if (policy.retry.inner == Nested::refuse) return"),
    ("decide_resume", "if (refuses_retried_response(hints, policy)) return", "if (hints.from_reprise) return"),
    ("decide", "if (!attempt.replayable) return Reason", "if (false) return Reason"),
    ("gates", "made >= *most", "made > *most"),
    ("decide", "are_attempts_spent(attempt.charged, ", "are_attempts_spent(attempt.number, "),
    ("gates", "*hints.retry_after > policy.retry", "*hints.retry_after >= policy.retry"),
    ("decide", "if (asks_for_too_long(hints, policy)) return", "if (false) return"),
    ("gates", "wait <= *deadline - now", "wait < *deadline - now"),
    ("decide", "asked && !wait_fits(deadline, now, hint)", "false"),
    ("decide", "attempt.charged - 1", "attempt.charged"),
    ("decide", "std::max(hints.retry_after.value_or(Duration::zero()), with_aws_hint(backoff, hints))", "with_aws_hint(backoff, hints)"),
    ("decide", "!wait_fits(deadline, now, delay)", "false"),
    ("gates", "left < 1", "left <= 1"),
    ("gates", "if (policy.mode == Mode::observe) return", "if (false) return"),
    ("decide", "!repeatable || !policy.retry.attempt_timeout", "!policy.retry.attempt_timeout"),
    ("decide", "std::min(attempt_end, *deadline)", "attempt_end"),
    ("decide", "policy.mode == Mode::active && facts", "facts"),
    ("decide", "answered->body_listed ? Reason::retryable_body : Reason::retryable_status", "Reason::retryable_status"),
    ("hold", "policy.mode == Mode::off || ", ""),
    ("hold", " || response.status == switching_protocols", ""),
    ("hold", "policy.retry.on.lists(response) ? nullptr : ", ""),
    ("hold", "if (hold.bytes > 0) return hold.bytes;", ""),
    ("hold", "!predicate.json.empty() && predicate.event.empty()", "!predicate.json.empty()"),
    ("hold", "!predicate.json.empty() && predicate.event.empty()", "predicate.event.empty()"),
    ("hold", "case BodyKind::untyped: return in_json || in_xml;", "case BodyKind::untyped: return in_json;"),
    ("hold", "concerns(predicate, status) && may_hold_in", "may_hold_in"),
    ("hold", "may_match ? standard_look_bytes : 0", "standard_look_bytes"),
    ("body_predicate", "!predicate.event.empty() && ", ""),
    ("body_predicate", "predicate.json.empty() || body", "body"),
    ("body_predicate", "  if (!predicate.header.empty()) return false;\n", ""),
    ("body_predicate", "return concerns(predicate, status) && matches(predicate, body);", "return matches(predicate, body);"),
    ("body_predicate", "!predicate.header.empty() && concerns(predicate, status)", "!predicate.header.empty()"),
    ("text_rule", "return text.ends_with(pattern);", "return text.find(pattern) != std::string_view::npos;"),
    ("text_rule", "text.remove_prefix(place + star);", "text.remove_prefix(place);"),
    ("text_rule", "if (!text.starts_with(pattern.substr(0, star))) return false;", ""),
    ("text_rule", "if (matches.empty()) return !text.empty();", "if (matches.empty()) return true;"),
    ("outcome", "failed->stage == Stage::body && ", ""),
    ("outcome", " && failed->cause != Cause::cancelled", ""),
    ("exchange", "  response_whole_ = false;\n", ""),
    ("exchange", "if (is_broken_response(outcome)) response_ = number;", ""),
    ("exchange_resume", "if (judged && verdict.reason == Reason::response_started) {", "if (false) {"),
    ("exchange_resume", "judged && verdict.reason == Reason::response_started", "judged"),
    ("exchange_resume", "    ledger_.reason = before.reason;\n", ""),
    ("exchange_resume", "} else if (judged && verdict.retry) {", "} else if (false) {"),
    ("exchange", "  ++charged_;\n  started_ = now;\n  const bool may", "  started_ = now;\n  const bool may"),
    ("exchange", "number_ == 1 && facts_.copyable", "number_ == 1"),
    ("exchange", "  static_cast<void>(account_for(report, earlier.outcome, earlier.ended));\n", ""),
    ("exchange", "  static_cast<void>(pay_for_retry(earlier.ended));", "  "),
    ("exchange", "  report.sent = earlier.attempt.sent;\n", ""),
    ("exchange", "if (!is_in_time(deadline_, now)) return", "if (deadline_ && now >= *deadline_) return"),
    ("exchange", "  if (!response_whole_) response_.reset();\n  state_ = State::attempting;", "  state_ = State::attempting;"),
    ("exchange", "signature_is_over = number_ > 0 && ", "signature_is_over = "),
    ("exchange", "!is_signed_at(facts_, now);", "facts_.signed_until && now >= *facts_.signed_until;"),
    ("exchange", "if (signature_is_over) return", "if (false) return"),
    ("exchange", "host_.pause != nullptr && policy_.while_paused != WhilePaused::go", "host_.pause != nullptr"),
    ("exchange_host", "std::optional(*end + spread_)", "std::optional(*end)"),
    ("exchange_host", "now < *end || waited", "now < *end"),
    ("exchange_host", "due_ && end && *due_ <= *end", "due_ && end"),
    ("exchange", "WhilePaused::fail || !fits)", "WhilePaused::fail)"),
    ("exchange", "!host_.circuit->admit(now))", "false)"),
    ("exchange_host", "std::min(*hints.retry_after, policy_.retry.retry_after.maximum)", "*hints.retry_after"),
    ("exchange_host", "hints.retry_after && policy_.retry.on.lists(outcome)", "hints.retry_after"),
    ("exchange_host", "honoured(answered->hints, policy_)", "answered->hints"),
    ("exchange_host", "const bool ours = failed != nullptr && is_fault_of_ours(failed->cause);", "const bool ours = false;"),
    ("exchange_host", "const bool kept_here = unsent && ", "const bool kept_here = false && "),
    ("exchange_host", "number_of(report) == 1 && !kept_here", "!kept_here"),
    ("exchange", "  if (given_back) static_cast<void>(pay_for_retry(now));\n", ""),
    ("exchange_host", "if (ours || stale) {", "if (ours) {"),
    ("exchange_host", "  if (stale && verdict.retry) return;\n", ""),
    ("exchange_host", "stale && verdict.retry", "stale"),
    ("exchange", "  admitted_ = now;\n", ""),
    ("exchange_hedge", "  admitted_ = now;\n", ""),
    ("exchange_hedge", "hedge_ && number == hedge_->first.number ? hedge_->first.started : admitted_", "admitted_"),
    ("exchange_host", "answered->status < 500)", "answered->status < 400)"),
    ("exchange_hedge", "if (host_.circuit != nullptr) host_.circuit->forget(hedge.second.started);", ""),
    ("exchange_hedge", "if (host_.circuit != nullptr) host_.circuit->forget(slower.started);", ""),
    ("exchange", "if (withdrawn_) host_.budget->refund(*withdrawn_, now);", "(void)now;"),
    ("exchange_host", "  host_.budget->refund(*withdrawn_, now);\n  withdrawn_.reset();\n  return true;", "  return true;"),
    ("ledger", "    if (leaving == held_) {", "    if (false) {"),
    ("ledger", "  if (holds_middle_) forget(overflow_[held_place]);\n", ""),
    ("ledger", "entry.verdict.reason == Reason::stale_connection) return;", "false) return;"),
    ("exchange", "state_ == State::waiting && number_ > 0 ? stop", "state_ == State::waiting ? stop"),
    ("exchange", "if (facts_.safe_method) return false;", ""),
    ("exchange", "  stale_retry_used_ = true;\n", ""),
    ("exchange", "  wait_ = Duration::zero();\n", ""),
    ("exchange", "  wait_ = verdict.delay;\n", ""),
    ("exchange", "  if (!response_whole_) response_.reset();\n  started_ = now", "  started_ = now"),
    ("exchange", "if (client_finished_) return", "if (false) return"),
    ("exchange", "if (shutting_down_) return", "if (false) return"),
    ("exchange", "Fail{response_.has_value()}", "Fail{out_of_time}"),
    ("exchange", "if (response_ && !out_of_time) return", "if (response_) return"),
    ("exchange", "  facts_.idempotent = report.idempotent;\n", ""),
    ("exchange", "&& other.attempt.sent == Sent::maybe) return true;", ") return true;"),
    ("exchange", "response->status != 404 && ", ""),
    ("exchange", "i + 1 < number || other.started < given.ended", "i + 1 < number"),
    ("exchange", "  started_ = now;\n  hedge_at_.reset();", "  hedge_at_.reset();"),
    ("exchange", "!response_whole_) response_.reset();\n}\n\nActions Exchange::stop(", "true) response_.reset();\n}\n\nActions Exchange::stop("),
    ("exchange", "Start{number_, true}", "Start{number_, false}"),
    ("exchange", "  verdict.retry = false;\n", ""),
    ("exchange", "Verdict& verdict = ledger_.back().verdict;", "Verdict& verdict = ledger_[0].verdict;"),
    ("exchange_resume", " && (report.number == 0 || report.number == number_)", ""),
    ("exchange_resume", "  Verdict& verdict = ledger_.back().verdict;\n  // A break", "  Verdict& verdict = broken.verdict;\n  // A break"),
    ("exchange", "return {Cancel{*body_of_}, Leave{}};", "return {Cancel{number_}, Leave{}};"),
    ("exchange_hedge", "state_ == State::attempting && !hedge_ ? hedge_at_", "!hedge_ ? hedge_at_"),
    ("exchange_hedge", "  if (state_ != State::attempting) return false;\n", ""),
    ("exchange_hedge", "return hedge_ && hedge_->first.runs ? hedge_->first.number : number_;", "return number_;"),
    ("exchange_hedge", "return copy != nullptr && copy->runs;", "return copy == &hedge_->second;"),
    ("exchange_hedge", "return copy != nullptr && copy->runs;", "return copy != nullptr;"),
    ("exchange_hedge", " || (hedge_ && hedge_->both_run())) return report.number;", ") return report.number;"),
    ("exchange_hedge", " || !runs(report)) return {};", ") return {};"),
    ("exchange_hedge", "  hedge_at_.reset();\n", ""),
    ("exchange_hedge", "judged == Reason::observe_only ? HedgeOutcome::observed : HedgeOutcome::refused", "HedgeOutcome::refused"),
    ("exchange_hedge", "  ++charged_;\n", ""),
    ("exchange_hedge", "  started_ = now;\n", ""),
    ("exchange_hedge", "  if (const auto reason = stopped_from_outside()) return *reason;\n", ""),
    ("exchange_hedge", "if (is_paused(now)) return", "if (false) return"),
    ("exchange_host", " && policy_.while_paused != WhilePaused::go && ", " && "),
    ("exchange_hedge", "budget != nullptr && !budget->withdraw(now)", "false"),
    ("exchange_hedge", "if (budget != nullptr) budget->refund(now, now);", ""),
    ("exchange_hedge", "if (judged == Reason::observe_only) host_.circuit->forget(now);", ""),
    ("exchange_hedge", "    ledger_.hedge = HedgeOutcome::failed;\n", ""),
    ("exchange_hedge", "  ended.runs = false;\n", "  hedge_->second.runs = false;\n"),
    ("exchange_hedge", "ends_race(outcome, policy_) ? HedgeOutcome::won : HedgeOutcome::failed", "HedgeOutcome::won"),
    ("exchange_hedge", "second ? HedgeOutcome::won : HedgeOutcome::lost", "HedgeOutcome::won"),
    ("exchange_hedge", "  return slower.number;", "  return number_;"),
    ("exchange_hedge", "  entry.ended = now;\n", ""),
    ("exchange_hedge", "!ends_race(outcome, policy_)) return;", "false) return;"),
    ("exchange_hedge", "hedge_ ? hedge_->first.started : started_", "started_"),
    ("hedge", "|| policy.mode == Mode::off) return", ") return"),
    ("hedge", "(policy.hedge->after) return start + *policy.hedge->after", "(policy.hedge->after) return start"),
    ("hedge", "if (refuses_nested_client(facts, policy))", "if (policy.retry.nested == Nested::refuse)"),
    ("hedge", "if (facts.idempotent != Idempotency::yes) return", "if (false) return"),
    ("hedge", "if (!attempt.replayable) return", "if (false) return"),
    ("hedge", "if (are_attempts_spent(attempt.charged, policy.retry.max_attempts)) return", "if (false) return"),
    ("hedge", "!is_in_time(deadline, now)", "false"),
    ("hedge", "last_closed_gate(facts, policy, now, budget_left).value_or(Reason::hedged)", "Reason::hedged"),
    ("hedge", "answered->status != misdirected_request && ", ""),
    ("hedge", "&& !policy.retry.on.lists(outcome)", ""),
    ("latency", "count_ < fewest", "count_ <= fewest"),
    ("latency", "(count_ * 95 + 99) / 100 - 1", "count_ * 95 / 100 - 1"),
    ("latency", "(next_ + 1) % most", "next_ + 1 < most ? next_ + 1 : next_"),
    ("ledger", "if (entry.verdict.reason != Reason::hedged) return true;", "return true;"),
    ("ledger", "if (entry.verdict.reason != Reason::hedged) return true;", ""),
    ("ledger", "hedge == HedgeOutcome::won && (", "("),
    ("ledger", "failed == nullptr || failed->cause != Cause::cancelled", "true"),
    ("exchange", "  client_finished_ = true;\n", ""),
    ("exchange", "  shutting_down_ = true;\n", ""),
    ("exchange", "head_at + *policy.retry.deadline", "head_at"),
    ("exchange", "if (state_ != State::idle) return {};", ""),
    ("exchange_host", "if (!host_.budget->withdraw(now)) return", "if (!host_.budget->withdraw(now) && false) return"),
    ("exchange", "if (is_out()) return cut(reason);", ""),
    ("exchange", "return is_out() ? resume_next(now) : start_next(now);", "return start_next(now);"),
    ("exchange", " || before == State::resuming", ""),
    ("exchange_resume", "  broken.ended = now;\n", ""),
    ("exchange_resume", "if (what.progress) in_vain_ = 0;", ""),
    ("exchange_resume", "if (what.progress) in_vain_ = 0;", "in_vain_ = 0;"),
    ("exchange_resume", "if (what.signed_until) facts_.signed_until = what.signed_until;", ""),
    ("exchange_resume", "  deadline_.reset();\n", ""),
    ("exchange_resume", "  continuable_ = what.continuable;\n", "  continuable_ = true;\n"),
    ("exchange_resume", "in_vain_ == 0 ? Duration::zero() : wait_", "wait_"),
    ("exchange_resume", "  ++in_vain_;\n", ""),
    ("exchange_resume", "  body_of_ = number_;\n", ""),
    ("exchange_resume", "if (!policy_.retry.on.lists(response)) return give_up", "if (false) return give_up"),
    ("exchange_resume", "resume_again(response.hints, now, dice)", "resume_again({}, now, dice)"),
    ("exchange_resume", "if (!is_retry(reason)) return give_up", "if (false) return give_up"),
    ("exchange_resume", "  tell_host(failure, {}, admitted_, now);\n", ""),
    ("exchange_resume", "  ledger_.reason = reason;\n", ""),
    ("exchange_resume", "cause == Cause::malformed_response || ", ""),
    ("decide_resume", "policy.mode != Mode::off && ", ""),
    ("decide_resume", "!wanted || !continuable", "!wanted"),
    ("decide_resume", "!wanted || !continuable", "!continuable"),
    ("decide_resume", "if (facts.idempotent != Idempotency::yes) return", "if (false) return"),
    ("decide_resume", "if (hints.said_no) return", "if (false) return"),
    ("decide_resume", "if (are_attempts_spent(history.in_vain, policy.resume.max_attempts)) return", "if (false) return"),
    ("decide_resume", "const Hints hints = honoured(said, policy);\n  if", "const Hints& hints = said;\n  if"),
    ("decide_resume", "if (asks_for_too_long(hints, policy)) return", "if (false) return"),
    ("decide_resume", "policy, now + delay, budget_left", "policy, now, budget_left"),
    ("resume", "settled_seconds = 60", "settled_seconds = 59"),
    ("resume", "coding.empty() || equals_ignoring_case(coding, \"identity\")", "coding.empty()"),
    ("resume", "!head.doubled && ", ""),
    ("resume", "!head.has_trailer && ", ""),
    ("resume", "is_plain(head.content_encoding) &&", "true &&"),
    ("resume", "!is_multipart(head.content_type)", "true"),
    ("resume", " && !request.conditional", ""),
    ("resume", " && !request.has_body", ""),
    ("resume", " && !request.doubled", ""),
    ("resume", "!request.fields_signed", "true"),
    ("resume", "head.end == BodyEnd::none || head.end == BodyEnd::close", "head.end == BodyEnd::none"),
    ("resume", "if (asked && !head.content_range.empty()) return std::nullopt;", ""),
    ("resume", "if (asked && !head.content_range.empty()) return", "if (!head.content_range.empty()) return"),
    ("resume", "if (counted && head.length == 0) return std::nullopt;", ""),
    ("resume", "range->first != asked->first", "false"),
    ("resume", "range->last > *asked->last", "false"),
    ("resume", "if (counted && head.length != range->bytes()) return std::nullopt;", ""),
    ("resume", "if (counted && head.length != range", "if (head.length != range"),
    ("resume", "BodyPlace{range->first, ", "BodyPlace{0, "),
    ("resume", "range->last + 1, range->complete, true", "range->last, range->complete, true"),
    ("resume", "range->last + 1, range->complete, true", "range->last + 1, std::nullopt, true"),
    ("resume", "head.uses_tags && tag_kind(head.entity_tag) == TagKind::strong", "head.uses_tags && !head.entity_tag.empty()"),
    ("resume", "head.uses_tags && tag_kind(head.entity_tag)", "tag_kind(head.entity_tag)"),
    ("resume", "!value.empty() && value.find", "value.find"),
    ("resume", "value.find(',') == std::string_view::npos", "true"),
    ("resume", " && !equals_ignoring_case(value, \"null\")", ""),
    ("resume", "head.entity_tag.empty() && has_settled(head)", "has_settled(head)"),
    ("resume", "if (head.uses_tags && head.entity_tag != entity_tag_) return false;", ""),
    ("resume", "head.uses_tags && head.entity_tag != entity_tag_", "head.entity_tag != entity_tag_"),
    ("resume", "head.last_modified != last_modified_", "false"),
    ("resume", "head.content_type != content_type_", "false"),
    ("resume", "proof_ != Proof::field;", "true;"),
    ("resume", "proof_ != Proof::field;", "false;"),
    ("resume", "if (compared && head.versions[i] != versions_[i]) return false;", ""),
    ("resume", "(!versions_[i].empty() && !head.versions[i].empty())", "!versions_[i].empty()"),
    ("resume", "(!versions_[i].empty() && !head.versions[i].empty())", "!head.versions[i].empty()"),
    ("resume", "if (proof_ == Proof::entity_tag) asked.if_range", "if (true) asked.if_range"),
    ("resume", "if (proof_ == Proof::date) asked.if_range", "if (proof_ != Proof::entity_tag) asked.if_range"),
    ("resume", "if (range->first != place_.first + sent) return {};", ""),
    ("resume", "*range->complete != *place_.complete", "false"),
    ("resume", "range->last + 1 != *end", "range->last + 1 > *end"),
    ("resume", "head.length != range->bytes())) return {};", "false)) return {};"),
    ("resume", "  place_.end = end;\n", ""),
    ("resume", "head.length == *place_.complete;", "true;"),
    ("resume", " || sent >= head.length", ""),
    ("resume", "if (place_.part || proof_", "if (proof_"),
    ("resume", "place_.part || proof_ == Proof::date || ", "place_.part || "),
    ("resume", "proof_ == Proof::field && head.end != BodyEnd::length", "head.end != BodyEnd::length"),
    ("resume", "proof_ == Proof::field && head.end != BodyEnd::length", "proof_ == Proof::field"),
    ("byte_range", "text.size() > most_digits", "false"),
    ("byte_range", "*complete <= *last", "*complete < *last"),
    ("byte_range", "byte >= 0x23", "byte >= 0x22"),
    ("byte_range", "byte == 0x21 || ", ""),
    ("budget", "  firsts -= recent_.oldest().firsts;\n", ""),
    ("budget", "+ 1 > allowance()", "> allowance()"),
    ("budget", "slot != nullptr && slot->retries > 0", "false"),
    ("budget", " && slot->retries > 0", ""),
    ("budget", "std::floor(", "("),
    ("slot_ring", "std::min(number(at), newest_)", "newest_"),
    ("slot_ring", "std::max(number(now), newest_)", "number(now)"),
    ("slot_ring", "return std::min(newest_ - before, slots);", "return 0;"),
    ("slot_ring", "slots - age) %", "slots) %"),
    ("slot_ring", "window.count() / tenths", "window.count()"),
    ("budget", "policy_.floor_per_second * seconds", "policy_.floor_per_second"),
    ("circuit", "all >= policy_.requests", "all > policy_.requests"),
    ("circuit", "static_cast<double>(failures) >= policy_", "static_cast<double>(failures) > policy_"),
    ("circuit", "if (now < *open_until_) return false;", ""),
    ("circuit", "now - *probe_since_ < policy_.open", "now - *probe_since_ <= policy_.open"),
    ("circuit", "  probe_since_ = now;\n", ""),
    ("circuit", "  open_until_ = now + policy_.open;\n  probe_since_.reset();", "  open_until_ = now + policy_.open;"),
    ("circuit", "  recent_.clear();\n", ""),
    ("circuit", "if (admitted >= *open_until_) close();", "close();"),
    ("circuit", "if (admitted >= *open_until_) open_at(now);", "open_at(now);"),
    ("circuit", "  recent_.advance(now);\n", ""),
    ("circuit", "  ++slot_at(now).all;\n", ""),
    ("circuit", "if (probe_since_ == admitted) probe_since_.reset();", ""),
    ("circuit", "if (probe_since_ == admitted) probe_since_.reset();", "probe_since_.reset();"),
    ("circuit", "admitted >= *open_until_) close", "admitted > *open_until_) close"),
    ("circuit", "admitted >= *open_until_) open_at", "admitted > *open_until_) open_at"),
    ("circuit", "now < *open_until_ ? State::open", "now <= *open_until_ ? State::open"),
    ("host_pause", "std::max(*until_, until)", "until"),
    ("host_pause", "until_ && now < *until_", "until_ && now <= *until_"),
    ("backoff", "{d / 2, d}", "{d / 3, d}"),
    ("backoff", "case Jitter::full: return {Duration::zero(), d}", "case Jitter::full: return {d, d}"),
    ("backoff", "previous > Duration::max() / 3 ? Duration::max() : ", ""),
    ("backoff", "std::min(backoff.maximum, exponential(backoff, n) + Duration(extra))", "exponential(backoff, n) + Duration(extra)"),
    ("backoff", "additive_milliseconds = 1000", "additive_milliseconds = 999"),
    ("backoff", "Duration(std::llround(grown))", "Duration(static_cast<Duration::rep>(grown))"),
    ("backoff", "previous * 3", "previous * 2"),
    ("backoff", "if (backoff.initial == Duration::zero()) return Duration::zero();", ""),
    ("dice", "if (highest == top) return next(state_);", ""),
    ("dice", "highest + 1", "highest"),
    ("dice", "while (number >= fair) number = next(state_);", ""),
    ("condition", "value.empty() ? !given.value.empty() : given.has_value && given.value == value", "given.value == value"),
    ("condition", "value.empty() ? !given.value.empty()", "value.empty() ? true"),
    ("condition", "if (rule.conditions.empty()) return {Idempotency::no, nullptr};", ""),
    ("condition", "return given.name == name &&", "return"),
    ("condition", "body == nullptr ? Idempotency::undecided", "body == nullptr ? Idempotency::yes"),
    ("condition", '{"PUT", "DELETE"}', '{"PUT", "PATCH"}'),
    ("condition", "if (judged == settled) return {settled, &condition};", ""),
    ("request_match", "segments_[i].any ? segment.empty() : ", "!segments_[i].any && "),
    ("request_match", "host.size() > suffix.size() &&", "host.size() >= suffix.size() &&"),
    ("request_match", "if (!hosts.empty() && std::none_of", "if (std::none_of"),
    ("request_match", "if (!hosts.empty() && std::none_of", "if (false && std::none_of"),
    ("request_match", "if (host.ends_with('.')) host.remove_suffix(1);", ""),
    ("request_match", "if (ends_here) return false;", ""),
    ("request_match", "return !left.empty() && left.front() != '/';", "return true;"),
    ("request_match", "if (port && *port != request.port)", "if (false)"),
    ("request_match", "return given.name == name;", "return given.has_value && given.name == name;"),
    ("match_index", "!match.host.text.empty() || match.hosts.empty()", "!match.host.text.empty()"),
    ("path_tree", "pattern.has_rest() ? place->rests_ : place->ends_", "pattern.has_rest() ? place->ends_ : place->rests_"),
    ("path_tree", "place->segment == segment.literal) return", "place->segment != segment.literal) return"),
    ("request_match", "!given.name.empty() && given.value.empty()", "given.value.empty()"),
    ("request_match", "!given.name.empty() && given.value.empty()", "!given.name.empty()"),
    ("request_match", "if (wanted.name == \"*\")", "if (false)"),
    ("route_policy", "failed.stage <= Stage::connect", "failed.stage < Stage::connect"),
    ("route_policy", "case Cause::tls_certificate_error: return false;", "case Cause::tls_certificate_error: return on.tls;"),
    ("route_policy", "failed.stage == Stage::body ? on.truncated : on.reset", "on.reset"),
    ("route_policy", "if (answered.body_listed) return true;", ""),
    ("route_policy", "    case Cause::attempt_timeout:\n    case Cause::response_timeout: return on.timeout;", "    case Cause::response_timeout: return false;\n    case Cause::attempt_timeout: return on.timeout;"),
    ("decide", "return (!guarded || again) && on.lists(outcome);", "return on.lists(outcome);"),
    ("decide", "|| !deadline || now < *deadline) return false;", "|| !deadline || now <= *deadline) return false;"),
    ("decide", "failed->cause == Cause::dns_timeout || ", ""),
    ("route_policy", "{429U, 408U,", "{429U,"),
    ("route_policy", "statuses.size() &&", "statuses.size() ||"),
    ("outcome", "if (status < 300)", "if (status <= 300)"),
    ("outcome", "failed.cause == Cause::attempt_timeout || ", ""),
    ("ledger", "size_ < inline_entries", "size_ <= inline_entries"),
    ("reason", "REASON(hedged, again,", "REASON(hedged, ends,"),
    ("reason", "REASON(budget_spent, limit,", "REASON(budget_spent, ends,"),
]

EXPLAIN_MUTANTS = [
    ("advice", "refuses_nested_client(told.facts, policy) || answered == nullptr", "answered == nullptr"),
    ("advice", "if (refuses_nested_client(told.facts, policy) ||", "if (told.facts.nested ||"),
    ("advice", "if (told.resumes)", "if (false)"),
    ("advice", "if (told.not_resumed == Reason::budget_spent)", "if (false)"),
    ("advice", "if (told.not_resumed == Reason::signature_expired)", "if (false)"),
    ("advice", "policy.mode == Mode::active && !policy.resume.enabled", "!policy.resume.enabled"),
    ("advice", "policy.mode == Mode::active && !policy.resume.enabled", "policy.mode == Mode::active"),
    ("advice", "if (failed != nullptr && failed->cause == Cause::response_timeout) {", "if (failed != nullptr) {"),
    ("advice", "if (word.empty()) return", "if (false) return"),
    ("advice", " && told.lowest.last.sent == Sent::maybe", ""),
    ("advice", "if (told.judgement.because == nullptr) break;", ""),
    ("explanation", "is_broken_response(told.outcome) || breaks_after_release(question.outcome, policy)", "is_broken_response(told.outcome)"),
    ("explanation", "is_broken_response(told.outcome) || breaks_after_release(question.outcome, policy)", "breaks_after_release(question.outcome, policy)"),
    ("explanation", "!question.tunnel && !question.bound && Download", "!question.bound && Download"),
    ("explanation", "!question.bound && Download", "Download"),
    ("explanation", "!question.bound && question.body_bytes", "question.body_bytes"),
    ("explanation", "assumed.breaks->signed_until = question.signature_end;", ""),
    ("explanation", "assumed.breaks->continuable = true;", ""),
    ("explanation", "untimed_policy.retry.deadline.reset();", ""),
    ("rehearsal", "exchange_.ledger().back().budget_left", "0"),
    ("rehearsal", "|| assumed.first.number > 1) return", ") return"),
]


# (floor, file, text, instead): numbers count over all tables.
PLANTED = [(floor, *mutant) for floor, table in (("policy", MUTANTS), ("explain", EXPLAIN_MUTANTS),
                                                  ("http", HTTP_MUTANTS), ("net", NET_MUTANTS))
           for mutant in table]

# What must fail, and what a run of it is.
UNIT_TEST = ("--gtest_brief=1", "--gtest_fail_fast")
JUDGES = {"policy": ("policy_test", UNIT_TEST), "explain": ("explain_test", UNIT_TEST), "http": ("http_test", UNIT_TEST),
          "net": ("net_stories", ("--stories", "200000", "--unshrunk"))}


# The rooms that a floor's test program judges, where there are several.
ROOMS = {"policy": ("policy", "verdict", "match", "pacing"), "http": ("http", "repeat", "http1", "probe", "tunnel", "message")}


def room_and_file(mutant):
    """Where the text stands: the stories judge all rooms above the sockets, so that their mutants name the room too."""
    floor, file = mutant[:2]
    if "/" in file:
        return file.split("/")
    rooms = [room for room in ROOMS.get(floor, (floor,)) if (ROOT / "proxy" / room / f"{file}.cpp").is_file()]
    return (rooms[0] if rooms else floor), file


def source(mutant):
    room, file = room_and_file(mutant)
    return ROOT / "proxy" / room / f"{file}.cpp"


def occurs_once(mutant):
    return source(mutant).read_text(encoding="utf-8").count(mutant[2]) == 1


def name(number):
    floor, file, text, instead = PLANTED[number - 1]
    return f"{number:3} {source(PLANTED[number - 1]).relative_to(ROOT / 'proxy')}: {text.strip()!r} -> {instead.strip()!r}"


class Build:
    """The unchanged test program of a floor, and the commands that built it."""

    def __init__(self, folder, floor):
        self.folder = folder
        self.test, self.arguments = JUDGES[floor]
        flags = ["-G", "Ninja", "-DREPRISE_TESTS=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1 -g0 -w"]
        self.run("cmake", "-S", str(ROOT), "-B", str(folder), *flags)
        self.run("ninja", "-C", str(folder), "-j2", self.test)
        listed = self.run("ninja", "-C", str(folder), "-t", "commands", self.test).splitlines()
        self.compile = {}
        for line in listed:
            for room, file in {tuple(room_and_file(mutant)) for mutant in PLANTED if mutant[0] == floor}:
                if f"reprise_{room}.dir/{file}.cpp.o" in line and " -c " in line:
                    self.compile[source((room, file))] = shlex.split(line)
        self.link = [word for word in shlex.split(listed[-1]) if word not in (":", "&&")]

    @staticmethod
    def run(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
        return done.stdout

    def plant(self, mutant, place):
        """True if the test program noticed; a text if the defect could not be planted."""
        changed, built, program = place / source(mutant).name, place / f"{source(mutant).name}.o", place / self.test
        text = source(mutant).read_text(encoding="utf-8")
        changed.write_text(text.replace(mutant[2], mutant[3]), encoding="utf-8")
        command = list(self.compile[source(mutant)])
        for option, value in (("-o", built), ("-c", changed), ("-MF", place / "changed.d")):
            command[command.index(option) + 1] = str(value)
        done = subprocess.run([*command, "-w"], cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"does not compile\n{done.stderr}"
        command = self.link_with(built, source(mutant).parent.name)
        command[command.index("-o") + 1] = str(program)
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"does not link\n{done.stderr}"
        return self.notices(program)

    def link_with(self, built, room):
        """The command that links the test program, with a copy of the room's library that has this object for its own."""
        library, copy = f"proxy/{room}/libreprise_{room}.a", built.parent / "changed.a"
        shutil.copy(self.folder / library, copy)
        self.run("ar", "r", str(copy), str(built))
        return [re.sub(rf"(?:{re.escape(str(self.folder))}/)?{re.escape(library)}", str(copy), word) for word in self.link]

    def notices(self, program):
        try:
            done = subprocess.run([program, *self.arguments], capture_output=True, timeout=LIMITS[self.test], check=False)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def check():
    wrong = [number for number, mutant in enumerate(PLANTED, 1) if not occurs_once(mutant)]
    for number in wrong:
        print(f"the text is not there exactly once: {name(number)}")
    return len(wrong)


def judge(builds, number):
    mutant = PLANTED[number - 1]
    if not occurs_once(mutant):
        return "the text is not there exactly once"
    with tempfile.TemporaryDirectory() as place:
        noticed = builds[mutant[0]].plant(mutant, Path(place))
    return {True: "killed", False: "SURVIVED"}.get(noticed, noticed)


def build_all(folder, floors):
    builds = {floor: Build(folder, floor) for floor in floors}
    for build in builds.values():
        if build.notices(folder / "tests" / build.test):
            sys.exit(f"{build.test} fails without any defect")
    return builds


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", type=int, action="append", metavar="N")
    arguments.add_argument("--floor", choices=tuple(JUDGES))
    arguments.add_argument("--sample", type=int, metavar="N", help="plant so many, drawn by --seed")
    chance.add_option(arguments)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--build", type=Path, default=ROOT / "build" / "mutants", help="build folder of its own")
    given = arguments.parse_args()
    numbers = given.only or list(range(1, len(PLANTED) + 1))
    if min(numbers) < 1 or max(numbers) > len(PLANTED):
        arguments.error(f"there are mutants 1 to {len(PLANTED)}")
    numbers = [number for number in numbers if given.floor in (None, PLANTED[number - 1][0])]
    if given.list:
        print("\n".join(name(number) for number in numbers))
        return 0
    if given.check:
        wrong = check()
        print(f"mutants: {len(PLANTED)} texts, {wrong} not found exactly once")
        return 1 if wrong else 0
    if given.sample:
        chance.use(given.seed)
        numbers = sorted(chance.dice("mutants").sample(numbers, min(given.sample, len(numbers))))
    builds = build_all(given.build, {PLANTED[number - 1][0] for number in numbers})
    suite = Suite("planted defects")
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as workers:
        for number, result in zip(numbers, workers.map(lambda n: judge(builds, n), numbers)):
            killed = result == "killed"
            suite.add(name(number), "passed" if killed else "failed", "" if killed else result)
    return suite.end()


if __name__ == "__main__":
    sys.exit(main())
