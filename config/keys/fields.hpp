// Maps each key to its member of the settings. The same lists are used to read a file and to print the
// settings.
#pragma once

#include "config/settings.hpp"
#include "proxy/policy/decision/route.hpp"

namespace reprise::config {

// Each function in this header lists the keys of one section. It calls `fields.field(path, member)` for each
// key, and `fields.section(path, optional member, function)` for each subsection that a word can switch off.
// The paths are relative to the section.

/// Lists the keys of the section `tls`.
template <typename Fields, typename Tls>
void tls_fields(Fields& fields, Tls& tls) {
  fields.field("tls", tls);
  fields.field("tls.originate", tls.originate);
  fields.field("tls.ca_file", tls.ca_file);
  fields.field("tls.certificate", tls.certificate);
  fields.field("tls.key", tls.key);
  fields.field("tls.key_passphrase", tls.key_passphrase);
  fields.field("tls.server_name", tls.server_name);
}

/// Lists the keys below `defaults`, a policy or a route.
template <typename Fields, typename Policy>
void route_fields(Fields& fields, Policy& route) {
  fields.field("mode", route.mode);
  fields.field("idempotent", route.idempotent);
  auto& retry = route.retry;
  fields.field("retry.on", retry.on);
  fields.field("retry.refused", retry.refused);
  fields.field("retry.max_attempts", retry.max_attempts);
  fields.field("retry.deadline", retry.deadline);
  fields.field("retry.attempt_timeout", retry.attempt_timeout);
  fields.field("retry.out_of_time", retry.out_of_time);
  fields.field("retry.backoff.initial", retry.backoff.initial);
  fields.field("retry.backoff.multiplier", retry.backoff.multiplier);
  fields.field("retry.backoff.maximum", retry.backoff.maximum);
  fields.field("retry.backoff.jitter", retry.backoff.jitter);
  fields.field("retry.retry_after.honour", retry.retry_after.honour);
  fields.field("retry.retry_after.maximum", retry.retry_after.maximum);
  fields.field("retry.nested", retry.nested);
  fields.field("retry.inner", retry.inner);
  fields.field("connect_timeout", route.connect_timeout);
  fields.field("response_timeout", route.response_timeout);
  fields.field("idle_timeout", route.idle_timeout);
  fields.section("budget", route.budget, [&](auto& budget) {
    fields.field("budget.ratio", budget.ratio);
    fields.field("budget.floor", budget.floor_per_second);
    fields.field("budget.window", budget.window);
  });
  fields.section("hold", route.hold, [&](auto& hold) {
    fields.field("hold.bytes", hold.bytes);
    fields.field("hold.time", hold.time);
    fields.field("hold.body", hold.body);
  });
  fields.section("hedge", route.hedge, [&](auto& hedge) { fields.field("hedge.after", hedge.after); });
  fields.section("circuit", route.circuit, [&](auto& circuit) {
    fields.field("circuit.failures", circuit.failures);
    fields.field("circuit.window", circuit.window);
    fields.field("circuit.requests", circuit.requests);
    fields.field("circuit.open", circuit.open);
  });
  fields.field("host_pause", route.while_paused);
  fields.field("replay.memory", route.replay_memory_bytes);
  fields.field("replay.disk", route.replay_disk_bytes);
  fields.field("resume", route.resume);
  fields.field("resume.enabled", route.resume.enabled);
  fields.field("resume.max_attempts", route.resume.max_attempts);
  fields.field("resume.stall", route.resume.stall);
  fields.field("resume.validators", route.resume.validators);
  tls_fields(fields, route.tls);
  fields.field("request_body", route.request_body_bytes);
  fields.field("tunnel.replay_client_hello", route.replay_client_hello);
  fields.field("signature.sigv4", route.signature_sigv4);
  fields.field("signature.one_time", route.signature_one_time);
  fields.field("ambiguous", route.ambiguous);
  fields.field("on_broken", route.on_broken);
  fields.field("via", route.via);
  fields.field("http2", route.http2);
  fields.field("refused_stream", route.refused_stream);
  fields.field("response_headers", route.response_headers);
  fields.field("attempt_header", route.attempt_header);
}

/// Lists the keys below `routes[].match`.
template <typename Fields, typename Match>
void match_fields(Fields& fields, Match& match) {
  fields.field("host", match.host);
  fields.field("hosts", match.hosts);
  fields.field("port", match.port);
  fields.field("path", match.path);
  fields.field("methods", match.methods);
  fields.field("query", match.query);
  fields.field("headers", match.headers);
  fields.field("grpc", match.grpc);
}

/// Lists the keys below `listeners[]`.
template <typename Fields, typename OneListener>
void listener_fields(Fields& fields, OneListener& listener) {
  fields.field("mode", listener.mode);
  fields.field("bind", listener.bind);
  fields.field("allow_remote", listener.allow_remote);
  fields.field("http2", listener.http2);
  if (!has_own_upstream(listener.mode)) return;
  fields.field("upstream", listener.upstream);
  fields.field("host", listener.host);
  fields.field("redirects", listener.redirects);
}

/// Lists the top-level keys of the file, except listeners and routes.
template <typename Fields, typename All>
void process_fields(Fields& fields, All& settings) {
  fields.field("admin", settings.admin);
  fields.field("admin.bind", settings.admin.bind);
  fields.field("admin.allow_remote", settings.admin.allow_remote);
  fields.field("admin.control", settings.admin.control);
  fields.field("parent", settings.parent);
  fields.section("intercept", settings.intercept, [&](auto& intercept) {
    fields.field("intercept.hosts", intercept.hosts);
    fields.field("intercept.ca.certificate", intercept.certificate);
    fields.field("intercept.ca.key", intercept.key);
    fields.field("intercept.bundle", intercept.bundle);
  });
  fields.field("security.deny", settings.security.deny);
  fields.field("security.connect_ports", settings.security.connect_ports);
  auto& limits = settings.limits;
  fields.field("limits.connections", limits.connections);
  fields.field("limits.admin_connections", limits.admin_connections);
  fields.field("limits.header", limits.header_bytes);
  fields.field("limits.header_fields", limits.header_fields);
  fields.field("limits.target", limits.target_bytes);
  fields.field("limits.request_body", limits.request_body_bytes);
  fields.field("limits.replay_memory", limits.replay_memory_bytes);
  fields.field("limits.stream_memory", limits.stream_memory_bytes);
  fields.field("limits.streams", limits.streams);
  fields.field("limits.replay_disk", limits.replay_disk_bytes);
  fields.field("limits.replay_folder", limits.replay_folder);
  fields.field("limits.kept_response", limits.kept_response_bytes);
  fields.field("limits.labelled_upstreams", limits.labelled_upstreams);
  fields.field("limits.upstreams", limits.upstreams);
  fields.field("limits.stories", limits.history_bytes);
  fields.field("timers.header", settings.timers.header);
  fields.field("timers.keep_alive", settings.timers.keep_alive);
  fields.field("timers.handshake", settings.timers.handshake);
  fields.field("pool.idle", settings.pool.idle);
  fields.field("pool.idle_timeout", settings.pool.idle_timeout);
  fields.field("pool.max_age", settings.pool.max_age);
  fields.field("pool.http2_connections", settings.pool.http2_connections);
  fields.field("shutdown.linger", settings.shutdown.linger);
  fields.field("shutdown.grace", settings.shutdown.grace);
  fields.field("reload.watch", settings.reload.watch);
  fields.field("log.level", settings.log.level);
  fields.field("log.format", settings.log.format);
  fields.field("log.access", settings.log.access);
  fields.field("log.path", settings.log.path);
  fields.field("trace.otlp", settings.trace.otlp);
  fields.field("trace.sample", settings.trace.sample);
  fields.field("threads", settings.threads);
}

}  // namespace reprise::config
