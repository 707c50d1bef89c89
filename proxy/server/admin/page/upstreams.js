// The upstreams as a table: attempts, remaining budget, circuits and pauses.

const UPSTREAM_COLUMNS = [
  {key: "name", title: "Upstream", kind: "name"},
  {key: "rate", title: "Attempts/s", kind: "chart"},
  {key: "failing", title: "Failing", about: "Attempts in the last minute that got a 5xx response, a failed gRPC status or no response"},
  {key: "budget", title: "Budget left", kind: "gauge", about: "Remaining part of the upstream's retry budget"},
  {key: "circuit", title: "Circuit", kind: "word"},
  {key: "pause", title: "Pause", about: "Remaining time of the pause that the upstream asked for"},
];

const CIRCUITS = {closed: ["closed", ""], half_open: ["probing", "tag warn"], open: ["open", "tag bad"]};

// Returns the number of HTTP/2 connections and streams; nothing if there is no connection.
function http2Text(http2) {
  if (!http2 || http2.connections === 0) return "";
  return `; HTTP/2: ${count(http2.connections)} connections, ${count(http2.streams)} streams`;
}

class Upstreams {
  constructor() {
    this.table = new Table("Upstreams", UPSTREAM_COLUMNS, {key: "rate", down: true}, byId("upstreams-all"));
    byId("upstreams-table").append(this.table.node);
    this.known = [];
  }

  count(upstreams, at, lived) {
    this.known = upstreams;
    this.table.keepOnly(new Set(upstreams.map((upstream) => upstream.name)));
    for (const upstream of upstreams) {
      const {recent} = this.row(upstream.name);
      // An upstream that was absent a second ago had no attempts then.
      if (lived === null && recent.last === undefined && this.before !== undefined) recent.add(this.before, {attempts: 0, failed: 0});
      if (lived === null) recent.add(at, upstreamValues(upstream));
      else recent.begin(at, upstreamValues(upstream), [], upstreamSeconds(upstream), lived);
    }
    this.before = at;
  }

  draw(totals, at) {
    const {known} = this;
    for (const upstream of known) this.drawOne(this.row(upstream.name), upstream, at);
    this.table.order();
    byId("upstreams-none").hidden = known.length > 0;
    this.table.node.hidden = known.length === 0;
    const pool = totals.upstream_connections || {active: 0, idle: 0};
    say(byId("pools"), `${this.table.note()}Connections: ${count(pool.active)} in use, ${count(pool.idle)} idle${http2Text(totals.upstream_http2)}; clients: ${count(totals.client_connections)}`);
  }

  begin() {
    this.table.begin();
    this.before = undefined;
  }

  row(name) {
    return this.table.row(name, () => {
      const part = (tag, kind) => element(tag, {class: kind || null});
      const row = {recent: new Recent(), spark: new Sparkline(), sort: {}, label: part("span", "label"), rate: part("span", "value"),
                   failing: part("span"), meter: element("meter", {min: 0, max: 1, low: 0.25, high: 0.5, optimum: 1}), budget: part("span", "value"),
                   circuit: part("span"), pause: part("span")};
      row.meter.setAttribute("aria-label", `Budget left of ${name}`);
      row.cells = [[row.label], [row.spark.node, row.rate], [row.failing], [row.meter, row.budget], [row.circuit], [row.pause]];
      return row;
    });
  }

  drawOne(row, upstream, at) {
    const recent = row.recent;
    const [attempts, failed] = [recent.grown("attempts"), recent.grown("failed")];
    const budget = upstream.budget_left === undefined ? 1 : upstream.budget_left;
    const [circuit, look] = CIRCUITS[upstream.circuit] || [NONE, ""];
    const isOther = upstream.name === "other";
    say(row.label, isOther ? "all others" : upstream.name);
    say(row.rate, rateText(recent.rate("attempts")));
    row.spark.draw(recent.rates("attempts"), at);
    say(row.failing, shareText(failed, attempts));
    mark(row.failing, attempts > 0 && failed > 0 ? (failed / attempts > 0.5 ? "bad-text" : "warn-text") : "");
    row.meter.hidden = isOther;
    row.meter.value = budget;
    say(row.budget, isOther ? NONE : Math.floor(budget * 100) + "\u00a0%");
    say(row.circuit, circuit);
    mark(row.circuit, look);
    say(row.pause, upstream.pause_seconds ? spanText(upstream.pause_seconds * 1000) : NONE);
    const wrong = (upstream.circuit && upstream.circuit !== "closed" ? 1 : 0) + (upstream.pause_seconds ? 1 : 0) + (budget < 1 ? 1 : 0);
    row.trouble = [failed + wrong, attempts];
    row.sort = {name: upstream.name, rate: recent.rate("attempts"), failing: attempts > 0 ? failed / attempts : null, budget,
                circuit: Object.keys(CIRCUITS).indexOf(upstream.circuit), pause: upstream.pause_seconds || 0};
  }
}
