// The top of the page: the state of the proxy, six numbers of the last minute, and notices. Also the configuration at the bottom.

class Tiles {
  constructor() {
    this.recent = new Recent();
    this.tiles = new Map();
    for (const [key, title, unit] of [["requests", "Requests", "per second"], ["success", "Success", "last minute"], ["retries", "Retries", "per second"],
                                      ["recovered", "Recovered", "last minute"], ["refused", "Not retried", "last minute"],
                                      ["p99", "p99", ""]]) {
      const tile = {value: element("strong", {}), unit: element("span", {class: "soft"}, unit), spark: new Sparkline()};
      tile.spark.node.classList.add(key);
      this.tiles.set(key, tile);
      byId("tiles").append(element("div", {class: "tile"}, element("dt", {}, title), element("dd", {}, tile.value, tile.unit),
                                   element("dd", {class: "chart", "aria-hidden": "true"}, tile.spark.node)));
    }
    this.slow = [];  // history of p99
  }

  begin() {
    this.recent = new Recent();
    this.slow = [];
  }

  // `lived`: null, or the number of past seconds for which the routes contain counts.
  count(routes, at, bounds, lived) {
    const {values, buckets} = sumOf(routes.map((route) => ({values: routeValues(route), buckets: route.durations || []})));
    const {recent} = this;
    const slowAt = (sample) => ({at: sample.at, value: recent.quantile(0.99, bounds, sample)?.seconds ?? null});
    if (lived === null) {
      recent.add(at, values, buckets);
      this.slow = [...this.slow.filter((point) => point.at > at - MINUTE), slowAt(recent.last)];
    } else {
      recent.begin(at, values, buckets, sumOfSeconds(routes), lived);
      this.slow = recent.samples.map(slowAt);
    }
  }

  draw(at, bounds) {
    const {recent} = this;
    const judged = recent.grown("judged");
    const p99 = recent.quantile(0.99, bounds);
    this.set("requests", rateText(recent.rate("requests")), recent.rates("requests"), at);
    this.set("success", shareText(recent.grown("good"), judged), shares(recent.rates("good"), recent.rates("judged")), at);
    this.set("retries", rateText(recent.rate("retries")), recent.rates("retries"), at);
    this.set("recovered", recent.seconds > 0 ? count(recent.grown("recovered")) : NONE, recent.rates("recovered"), at);
    this.set("refused", recent.seconds > 0 ? count(recent.grown("refused")) : NONE, recent.rates("refused"), at);
    this.set("p99", quantileText(p99), this.slow, at);
    say(this.tiles.get("p99").unit, `p50 ${quantileText(recent.quantile(0.5, bounds))}`);
  }

  set(key, text, points, at) {
    const tile = this.tiles.get(key);
    say(tile.value, text);
    tile.spark.draw(points, at);
  }
}

// Returns the share for each second that has any requests.
function shares(part, whole) {
  return part.map((point, i) => ({at: point.at, value: whole[i].value > 0 ? point.value / whole[i].value : null}));
}

// Shows that the state is unknown.
function drawUnknown() {
  say(byId("state"), "unknown");
  mark(byId("state"), "pill idle");
  document.title = "reprise, connection lost";
}

const STATES = {ready: ["ready", "pill good"], draining: ["draining", "pill warn"], not_ready: ["not ready", "pill bad"]};

function drawHeader(status) {
  const [text, look] = STATES[status.draining ? "draining" : status.ready ? "ready" : "not_ready"];
  say(byId("state"), text);
  mark(byId("state"), look);
  say(byId("version"), status.version);
  say(byId("uptime"), `up ${uptimeText(status.uptime_seconds)}`);
  say(byId("listeners"), status.listeners.filter((listener) => !listener.startsWith("admin ")).join(", "));
  document.title = `reprise, ${text}`;
}

// Notices by name: each shows one problem while it lasts.
class Notices {
  constructor() { this.shown = new Map(); }

  set(name, kind, title, lines = []) {
    const text = JSON.stringify([kind, title, lines]);
    const old = this.shown.get(name);
    if (old && old.text === text) return;
    const node = element("div", {class: `notice ${kind}`}, element("strong", {}, title),
                         lines.length > 0 ? element("ul", {}, ...lines.map((line) => element("li", {}, element("code", {}, line)))) : null);
    if (old) old.node.replaceWith(node);
    else byId("notices").append(node);
    this.shown.set(name, {text, node});
  }

  clear(name) {
    if (!this.shown.has(name)) return;
    this.shown.get(name).node.remove();
    this.shown.delete(name);
  }

  take(status) {
    const reload = status.reload;
    if (reload && reload.outcome === "failed") {
      this.set("reload", "bad", `The reload at ${clockText(new Date(reload.time * 1000))} failed. The previous configuration stays active.`, reload.errors);
    } else {
      this.clear("reload");
    }
    if (status.draining) this.set("draining", "warn", "Draining: not ready, and each connection closes after its current response.");
    else this.clear("draining");
  }
}

function drawSettings(status) {
  const reload = status.reload;
  const rows = [["File", status.config.file || "none (built-in defaults)"], ["Hash", status.config.hash || NONE],
                ["Last reload", !reload ? "none since the start" : `${reload.outcome === "failed" ? "failed" : "succeeded"}, ${new Date(reload.time * 1000).toLocaleString("en-GB")}`],
                ["Started", new Date(status.started * 1000).toLocaleString("en-GB")], ["Threads", String(status.threads)],
                ["Listeners", status.listeners.join(", ")], ["Malformed", `${count(status.totals.rejected)} requests were rejected before routing`]];
  const list = byId("settings");
  rows.forEach(([name, text], i) => {
    if (!list.children[i]) list.append(element("div", {}, element("dt", {}, name), element("dd", {})));
    say(list.children[i].lastChild, text);
  });
}
