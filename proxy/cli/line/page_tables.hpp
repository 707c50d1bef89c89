// Tables of the manual page that are not about commands: files, variables, signals and exit codes.
#pragma once

#include <array>
#include <string_view>

namespace reprise::cli {

struct PageEntry {
  std::string_view name;
  std::string_view text;  ///< text in one or more sentences
};

inline constexpr auto exit_status_entries = std::to_array<PageEntry>({
    {"0", "Success."},
    {"1", "A failure at run time."},
    {"2", "Wrong use of the command line."},
    {"69", "A listener or the control socket cannot be bound."},
    {"78", "The configuration is wrong."},
});

inline constexpr auto signal_entries = std::to_array<PageEntry>({
    {"SIGTERM, SIGINT, SIGQUIT",
     "Start a graceful shutdown: /readyz reports not ready, listeners close after shutdown.linger, and "
     "requests have shutdown.grace to end. A second signal ends the process at once. The exit code is 0."},
    {"SIGHUP", "Reads the configuration again. If the file cannot be used, the current configuration stays."},
    {"SIGUSR1, SIGUSR2, SIGWINCH and others", "Are ignored, and logged once."},
    {"SIGPIPE, SIGXFSZ",
     "Are ignored: a write to a closed pipe or beyond the file size limit fails instead."},
});

inline constexpr auto file_entries = std::to_array<PageEntry>({
    {"/etc/reprise/reprise.yaml", "Configuration of the packaged service; see reprise.yaml(5)."},
    {"/run/reprise/control.sock",
     "Usual place of the control socket (admin.control), for reload, drain, quit, status, log and pause. "
     "Mode 0600."},
    {"/run/reprise/ca/", "Usual place of the certificate authority for interception and its bundle."},
    {"/tmp", "Request bodies that are too long for memory (limits.replay_folder). The files have no name."},
    {"$XDG_RUNTIME_DIR, $TMPDIR",
     "Place of exec's private folder. The folder has mode 0700, and exec removes it at its end."},
    {"/etc/ssl/certs", "Root certificates for verifying upstreams, if a route has no ca_file."},
    {"/etc/resolv.conf, /etc/hosts", "How names are resolved."},
});

inline constexpr auto variable_entries = std::to_array<PageEntry>({
    {"http_proxy, https_proxy, no_proxy",
     "Read by exec, in lower and upper case: the proxy that they name becomes the parent, unless the file "
     "has a parent. exec and env set these variables for the application."},
    {"SSL_CERT_FILE, SSL_CERT_DIR", "Root certificates that are used instead of the system's."},
    {"OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES",
     "Read by run: resource attributes of all spans. OTEL_SERVICE_NAME wins over service.name in "
     "OTEL_RESOURCE_ATTRIBUTES."},
    {"OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
     "Read by run: the collector of spans, if the file does not have trace.otlp. /v1/traces is appended to "
     "the first variable; the second is used unchanged, and wins."},
    {"OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_TRACES_HEADERS",
     "Read by run: headers that are sent with each batch of spans, as name=value,name=value with "
     "percent-encoded values."},
    {"OTEL_EXPORTER_OTLP_CERTIFICATE, OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
     "Read by run: a PEM file with the only certificates that are trusted for a collector over TLS."},
    {"OTEL_SDK_DISABLED", "Read by run: if true, run ignores the other OTEL_ variables."},
    {"OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
     "Read by run: if the value is an exporter other than otlp (such as none), or a protocol that does not "
     "begin with http/, the endpoint is not used."},
    {"OTEL_EXPORTER_OTLP_TIMEOUT, OTEL_EXPORTER_OTLP_COMPRESSION, OTEL_TRACES_SAMPLER, "
     "OTEL_TRACES_SAMPLER_ARG",
     "No effect: run logs a warning for each if it has a collector. trace.sample decides which requests get "
     "spans."},
    {"NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID",
     "Set by systemd: reprise notifies systemd when it is ready, reloads, stops and is alive, and sends a "
     "status line."},
    {"LISTEN_FDS, LISTEN_PID", "Set by systemd: listening sockets that systemd opened before the start."},
    {"JOURNAL_STREAM",
     "Set by systemd: if it names standard error, each line begins with its priority, and text lines have no "
     "timestamp."},
    {"NO_COLOR, TERM", "No colours in top if NO_COLOR is set or TERM is dumb."},
    {"RES_OPTIONS", "Options of the resolver, as in resolv.conf(5)."},
    {"NAME", "Any variable that the configuration names as ${env:NAME}."},
});

}  // namespace reprise::cli
