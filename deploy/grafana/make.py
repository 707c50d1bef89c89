#!/usr/bin/env python3
"""Prints the Grafana dashboard (versions 10 and 11) that this file describes.

    python3 deploy/grafana/make.py >deploy/grafana/reprise.json

In a query of this file, `{p}` selects the proxies that are chosen by the dashboard's variables, and `{r}` also selects
the chosen routes. `{r, code="200"}` adds a condition for a label. `[]` becomes an interval that has several scrapes."""
import json
import re
import sys

WIDTH = 24  # width of a dashboard in columns of Grafana's grid
CHOICES = {"p": 'namespace=~"$namespace", job=~"$job"', "r": 'namespace=~"$namespace", job=~"$job", route=~"$route"'}
FAILED = 'code=~"5..|cut|client_gone"'
GREEN_ABOVE = {"thresholds": [("red", None), ("orange", 0.95), ("green", 0.99)]}
RED_ABOVE = {"thresholds": [("green", None), ("orange", 0.05), ("red", 0.25)]}


def share(part, whole, by=""):
    """Returns the ratio of two rates, or no value if there were no requests."""
    return f"sum{by} (rate({part}[])) / (sum{by} (rate({whole}[])) > 0)"


def quantiles(metric, by="route"):
    return [(f"histogram_quantile({level}, sum by (le, {by}) (rate({metric}_bucket{{r}}[])))", f"p{round(level * 100)} {{{{{by}}}}}")
            for level in (0.5, 0.99)]


def panel(title, says, queries, width=8, kind="timeseries", unit="short", **more):
    return {"title": title, "says": says, "queries": queries, "width": width, "kind": kind, "unit": unit, **more}


def stat(title, says, query, unit="short", **more):
    return panel(title, says, [(query, "")], 4, "stat", unit, **more)


ROWS = [
    ("At a glance", 4, [
        stat("Requests", "Requests per second.", "sum(rate(reprise_requests_total{r}[]))", "reqps"),
        stat("Succeeded", "Share of the requests whose client got a whole response with a status below 500.",
             "1 - (sum(rate(reprise_requests_total{r, " + FAILED + "}[])) or vector(0)) / (sum(rate(reprise_attempts_per_request_count{r}[])) > 0)",
             "percentunit", decimals=2, **GREEN_ABOVE),
        stat("Recovered", "Requests per second that succeeded after a retry. The client saw no failure.",
             "sum(rate(reprise_recovered_total{r}[]))", "reqps"),
        stat("Attempts/request", "1 means no retries. The rest is the load that reprise adds to the upstreams.",
             share("reprise_attempts_total{r}", "reprise_requests_total{r}"), decimals=2,
             thresholds=[("green", None), ("orange", 1.1), ("red", 1.25)]),
        stat("Least budget left", "Lowest retry budget of any upstream. At 0, failed requests are not retried.",
             "min(reprise_budget_available_ratio{p})", "percentunit", thresholds=[("red", None), ("orange", 0.05), ("green", 0.3)]),
        stat("Circuits not closed", "Upstreams that get no requests, or only one probe at a time.",
             "count(reprise_circuit_state{p} > 0) or vector(0)", decimals=0, thresholds=[("green", None), ("red", 1)]),
    ]),
    ("Requests", 8, [
        panel("Requests by route", "Finished requests per second.", [("sum by (route) (rate(reprise_requests_total{r}[]))", "{{route}}")],
              unit="reqps", stacked=True),
        panel("Requests by code", "Status that the client got. cut: the response broke off. client_gone: the client had left.",
              [("sum by (code) (rate(reprise_requests_total{r}[]))", "{{code}}")], unit="reqps", stacked=True),
        panel("Success with and without reprise",
              "Share of requests and tunnels that succeeded, and the share without the requests that a retry saved. "
              "The gap is the benefit of reprise.",
              [("1 - (sum(rate(reprise_requests_total{r, " + FAILED + "}[])) or vector(0))"
                " / (sum(rate(reprise_attempts_per_request_count{r}[])) > 0)",
                "with reprise"),
               ("1 - ((sum(rate(reprise_requests_total{r, " + FAILED + "}[])) or vector(0)) + sum(rate(reprise_recovered_total{r}[])))"
                " / (sum(rate(reprise_attempts_per_request_count{r}[])) > 0)", "without")], unit="percentunit", most=1),
        panel("Time to the end of the response", "From the request to the end of its response, including waits. Tunnels are not counted.",
              quantiles("reprise_request_duration_seconds"), unit="s", width=12),
        panel("Recovered, resumed", "Requests that succeeded after a retry, and downloads that broke and were continued.",
              [("sum by (route) (rate(reprise_recovered_total{r}[]))", "recovered {{route}}"),
               ("sum by (route) (rate(reprise_resumed_downloads_total{r}[]))", "resumed {{route}}")], unit="reqps", width=12),
    ]),
    ("Retries", 8, [
        panel("Amplification", "Attempts per request. In a long outage the budget limits this value: by default to 1.2, plus the floor of the budget.",
              [(share("reprise_attempts_total{r}", "reprise_requests_total{r}", " by (route)"), "{{route}}")], least=1),
        panel("Retries by reason", "Retries per second, and why requests were retried.",
              [("sum by (reason) (rate(reprise_retries_total{r}[]))", "{{reason}}")], unit="ops", stacked=True),
        panel("Not retried, by reason", "Requests per second that were not retried, and why.",
              [("sum by (reason) (rate(reprise_retries_refused_total{r}[]))", "{{reason}}")], unit="ops", stacked=True),
        panel("Exhausted by limit", "Failures that clients see after retries, and the limit that ended the retries.",
              [("sum by (reason) (rate(reprise_exhausted_total{r}[]))", "{{reason}}")], unit="ops", stacked=True),
        panel("Waits", "Waits before retries, and the pauses that upstreams asked for.",
              [*quantiles("reprise_backoff_seconds"),
               ("histogram_quantile(0.99, sum by (le, route) (rate(reprise_retry_after_seconds_bucket{r}[])))", "asked for {{route}}")],
              unit="s"),
        panel("Hedges and ambiguous writes",
              "Hedges by outcome, and responses such as 404, 409 or 412 after an attempt that may have taken effect.",
              [("sum by (outcome) (rate(reprise_hedges_total{r}[]))", "hedge {{outcome}}"),
               ("sum by (route) (rate(reprise_ambiguous_total{r}[]))", "ambiguous {{route}}")], unit="ops"),
        panel("Attempts per request, p99", "99th percentile by route, for requests that ended in the interval.",
              [("histogram_quantile(0.99, sum by (le, route) (rate(reprise_attempts_per_request_bucket{r}[])))", "p99 {{route}}")],
              width=12),
        panel("Attempts by outcome", "Attempts per second by status class, or by kind of failure. grpc: a gRPC call that failed with HTTP status 200.",
              [("sum by (outcome) (rate(reprise_attempts_total{r}[]))", "{{outcome}}")], unit="ops", stacked=True, width=12),
    ]),
    ("Upstreams", 8, [
        panel("Attempts by upstream", "Attempts per second for each host:port. Upstreams without their own label are counted as other.",
              [("sum by (upstream) (rate(reprise_upstream_attempts_total{p}[]))", "{{upstream}}")], unit="ops", stacked=True),
        panel("Time of attempts", "Time from the start of an attempt to its response head or its failure, by upstream.",
              [("histogram_quantile(0.99, sum by (le, upstream) (rate(reprise_upstream_attempt_duration_seconds_bucket{p}[])))", "p99 {{upstream}}")],
              unit="s"),
        panel("Budget left", "Retry budget left for each upstream, in the process with the lowest value.",
              [("min by (upstream) (reprise_budget_available_ratio{p})", "{{upstream}}")], unit="percentunit", least=0, most=1),
        panel("Circuits", "State of each circuit, in the process with the worst state.",
              [("max by (upstream) (reprise_circuit_state{p})", "{{upstream}}")], least=0, most=2, decimals=0,
              words={"0": ("closed", "green"), "1": ("half-open", "orange"), "2": ("open", "red")}, steps=True),
        panel("Which upstream fails, and how", "Attempts per second without a response, or with a 5xx.",
              [('sum by (upstream, outcome) (rate(reprise_upstream_attempts_total{p, outcome!~"[234]xx"}[])) > 0', "")], 24, "table", "ops",
              columns={"upstream": "upstream", "outcome": "outcome", "Value": "attempts per second"}),
    ]),
    ("Bodies and connections", 8, [
        panel("Replay store", "Share of limits.replay_memory and limits.replay_disk in use, in the process with the highest value.",
              [("max by (store) (reprise_replay_bytes{p} / (reprise_replay_limit_bytes{p} > 0))", "{{store}}")],
              unit="percentunit", least=0, most=1),
        panel("Held for replay", "Bytes of request bodies that are held for retries, in all processes, and the limits.",
              [("sum by (store) (reprise_replay_bytes{p})", "{{store}}"),
               ("sum by (store) (reprise_replay_limit_bytes{p})", "limit of {{store}}")], unit="bytes"),
        panel("Connections", "Open connections.",
              [("sum(reprise_client_connections{p})", "clients"),
               ("sum by (state) (reprise_upstream_connections{p})", "upstreams, {{state}}")]),
        panel("HTTP/2", "Open connections and streams, and seconds that attempts waited for a stream of an upstream.",
              [("sum by (side) (reprise_http2_connections{p})", "connections, {{side}}"),
               ("sum by (side) (reprise_http2_streams{p})", "streams, {{side}}"),
               ("histogram_quantile(0.99, sum by (le) (rate(reprise_http2_queued_seconds_bucket{p}[])))", "p99 of the wait")]),
        panel("gRPC calls by status", "Finished gRPC calls per second, by the status that the client got. none: no status reached the client.",
              [("sum by (status) (rate(reprise_grpc_requests_total{r}[]))", "{{status}}")], unit="ops", stacked=True),
        panel("HTTP/2 errors", "GOAWAY and RST_STREAM frames that arrived, by error code.",
              [("sum by (side, code) (rate(reprise_http2_goaways_total{p}[]))", "GOAWAY, {{side}}: {{code}}"),
               ("sum by (side, code) (rate(reprise_http2_resets_total{p}[]))", "RST_STREAM, {{side}}: {{code}}"),
               ("sum by (kind) (rate(reprise_http2_floods_total{p}[]))", "flood: {{kind}}")], unit="ops"),
        panel("Tunnels by end",
              "Tunnels and upgraded connections, which are not counted as requests. http: plain requests, which reprise serves one by one.",
              [("sum by (outcome) (rate(reprise_tunnels_total{p}[]))", "{{outcome}}")], unit="ops"),
        panel("Streams", "Protocols found after CONNECT, through SOCKS or on redirected connections, and the results of TLS interception.",
              [("sum by (protocol) (rate(reprise_streams_total{p}[]))", "{{protocol}}"),
               ("sum by (outcome) (rate(reprise_interceptions_total{p}[]))", "intercept: {{outcome}}")], unit="ops"),
        panel("Bytes", "Bytes of bodies and tunnels. in: from clients. out: to clients.",
              [("sum(rate(reprise_request_bytes_total{r}[]))", "in"), ("sum(rate(reprise_response_bytes_total{r}[]))", "out")], unit="Bps"),
        panel("Certificates", "Days until the first certificate expires: the authority of intercept, and client certificates of tls.",
              [("min by (certificate) (reprise_certificate_expires_seconds{p}) / 86400", "{{certificate}}")], decimals=0),
        panel("Name lookups", "Lookups per second by outcome. hit: the address was cached.",
              [("sum by (outcome) (rate(reprise_dns_lookups_total{p}[]))", "{{outcome}}")], unit="ops"),
    ]),
    ("Rejections and the process", 8, [
        panel("Messages rejected", "Messages that were rejected before any attempt, by cause.",
              [("sum by (cause) (rate(reprise_rejected_requests_total{p}[]))", "{{cause}}")], unit="ops"),
        panel("Limits hit", "Connections that a limit rejected or ended.",
              [("sum by (limit) (rate(reprise_limits_hit_total{p}[]))", "{{limit}}")], unit="ops"),
        panel("Reloads and lost log lines", "failed: the previous configuration stays active.",
              [("sum by (outcome) (increase(reprise_config_reloads_total{p}[]))", "reload {{outcome}}"),
               ("count(reprise_config_last_reload_successful{p} == 0) or vector(0)", "instances whose last reload failed"),
               ("sum(increase(reprise_log_dropped_total{p}[]))", "log lines dropped")], decimals=0),
        panel("CPU", "CPU cores in use.", [("rate(process_cpu_seconds_total{p}[])", "{{instance}}")], width=6),
        panel("Memory", "Resident memory.", [("process_resident_memory_bytes{p}", "{{instance}}")], unit="bytes", width=6),
        panel("Descriptors", "Open file descriptors as a share of their limit.",
              [("process_open_fds{p} / process_max_fds{p}", "{{instance}}")], unit="percentunit", least=0, width=6),
        panel("Spans", "Spans sent to the collector of trace.otlp, and spans that were dropped.",
              [("sum(rate(reprise_trace_spans_total{p}[]))", "sent"),
               ("sum by (cause) (rate(reprise_trace_dropped_total{p}[]))", "dropped: {{cause}}")], unit="ops", width=6),
        panel("Processes",
              "If the processes show different configuration hashes, some of them have not applied the newest configuration.",
              [("reprise_build_info{p}", ""), ("reprise_config_info{p}", ""), ("time() - process_start_time_seconds{p}", ""),
               ("time() - reprise_config_last_reload_success_timestamp_seconds{p}", "")],
              24, "table", "s", joined="instance",
              columns={"instance": "instance", "version": "version", "hash": "configuration", "Value #C": "up for",
                       "Value #D": "configuration active for"}),
    ]),
]
# variables of the dashboard: (name, query for the values, label)
VARIABLES = [
    ("namespace", "label_values(reprise_build_info, namespace)", "Namespace"),
    ("job", 'label_values(reprise_build_info{namespace=~"$namespace"}, job)', "Job"),
    ("route", 'label_values(reprise_recovered_total{namespace=~"$namespace", job=~"$job"}, route)', "Route"),
]
RELOADED = "sum by (instance, outcome) (changes(reprise_config_reloads_total{p}[$__interval])) > 0"
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def query(text):
    chosen = re.sub(r"\{([pr])(,[^}]*)?\}", lambda match: "{" + CHOICES[match.group(1)] + (match.group(2) or "") + "}", text)
    return chosen.replace("[]", "[$__rate_interval]")


def targets(described):
    is_table = described["kind"] == "table"
    for at, (text, legend) in enumerate(described["queries"]):
        yield {"refId": chr(ord("A") + at), "datasource": SOURCE, "editorMode": "code", "expr": query(text),
               "legendFormat": legend or "__auto", "range": not is_table, "instant": is_table,
               "format": "table" if is_table else "time_series"}


def field_config(described):
    color_mode = "thresholds" if described["kind"] == "stat" else "palette-classic"
    defaults = {"unit": described["unit"], "color": {"mode": color_mode}, "mappings": []}
    for ours, theirs in (("least", "min"), ("most", "max"), ("decimals", "decimals")):
        if ours in described:
            defaults[theirs] = described[ours]
    steps = described.get("thresholds", [("green", None)])
    defaults["thresholds"] = {"mode": "absolute", "steps": [{"color": color, "value": value} for color, value in steps]}
    if "words" in described:
        said = {value: {"text": text, "color": color, "index": at} for at, (value, (text, color)) in enumerate(described["words"].items())}
        defaults["mappings"] = [{"type": "value", "options": said}]
    if described["kind"] == "timeseries":
        defaults["custom"] = {
            "drawStyle": "line", "lineInterpolation": "stepAfter" if described.get("steps") else "linear", "lineWidth": 1,
            "showPoints": "never", "fillOpacity": 30 if described.get("stacked") else 8, "spanNulls": False, "axisPlacement": "auto",
            "stacking": {"mode": "normal" if described.get("stacked") else "none", "group": "A"}}
    return {"defaults": defaults, "overrides": []}


def options(described):
    if described["kind"] == "stat":
        return {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value", "graphMode": "area",
                "justifyMode": "auto", "orientation": "auto", "textMode": "auto"}
    if described["kind"] == "table":
        return {"showHeader": True, "cellHeight": "sm", "footer": {"show": False, "reducer": ["sum"], "countRows": False, "fields": ""}}
    return {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
            "tooltip": {"mode": "multi", "sort": "desc"}}


def transformations(described):
    columns = described.get("columns")
    if not columns:
        return []
    joins = [{"id": "joinByField", "options": {"byField": described["joined"], "mode": "outer"}}] if "joined" in described else []
    kept = {"id": "filterFieldsByName", "options": {"include": {"names": list(columns)}}}
    order = {name: at for at, name in enumerate(columns)}
    called = {"id": "organize", "options": {"indexByName": order, "renameByName": columns, "excludeByName": {}}}
    return [*joins, kept, called]


def panels():
    """Places panels from left to right, top down. A panel that does not fit starts a new line."""
    made, top = [], 0

    def add(kind, title, grid, **more):
        made.append({"id": len(made) + 1, "type": kind, "title": title, "gridPos": dict(zip("hwxy", grid)), **more})
    for name, height, described in ROWS:
        add("row", name, (1, WIDTH, 0, top), collapsed=False, panels=[])
        left, top = 0, top + 1
        for each in described:
            if left + each["width"] > WIDTH:
                left, top = 0, top + height
            add(each["kind"], each["title"], (height, each["width"], left, top), description=each["says"], datasource=SOURCE,
                targets=list(targets(each)), fieldConfig=field_config(each), options=options(each), transformations=transformations(each))
            left += each["width"]
        top += height
    return made


def variables():
    yield {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "regex": "", "hide": 0, "refresh": 1,
           "includeAll": False, "multi": False, "options": [], "current": {}}
    for name, asked, label in VARIABLES:
        # A proxy outside Kubernetes has no namespace label, so the value of All also matches series without that label.
        yield {"name": name, "label": label, "type": "query", "datasource": SOURCE, "definition": asked,
               "query": {"query": asked, "refId": name}, "regex": "", "hide": 0, "refresh": 2, "sort": 1,
               "includeAll": True, "multi": True, "allValue": ".*", "options": [],
               "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}


def dashboard():
    reloads = {"name": "Reloads", "datasource": SOURCE, "enable": True, "hide": False, "iconColor": "blue", "expr": query(RELOADED),
               "titleFormat": "configuration {{outcome}}", "textFormat": "{{instance}}", "tagKeys": "outcome", "step": "",
               "useValueForTime": False}
    return {
        "id": None, "uid": "reprise", "title": "reprise", "tags": ["reprise"], "description": "Retries for applications that cannot retry.",
        "schemaVersion": 39, "version": 1, "editable": True, "graphTooltip": 1, "refresh": "30s", "timezone": "", "fiscalYearStartMonth": 0,
        "time": {"from": "now-1h", "to": "now"}, "timepicker": {}, "weekStart": "", "links": [], "liveNow": False,
        "annotations": {"list": [reloads]}, "templating": {"list": list(variables())}, "panels": panels(),
    }


def text():
    return json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
