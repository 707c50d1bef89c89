// The routes as a table that can be sorted and filtered.

const TOP = 10;

// A table with explicit ARIA roles: a narrow table is laid out as a list, and its elements then lose their implicit roles.
// A long table shows ten rows until all are requested: those with the most problems, or the first ten by the chosen column.
class Table {
  // `all`: the button that shows the other rows. `ordered` is called with the shown rows after a person has changed the order.
  constructor(caption, columns, sorted, all, ordered = () => {}) {
    this.columns = columns;
    this.sorted = sorted;  // {key, down}
    this.first = sorted;
    this.all = all;
    this.ordered = ordered;
    this.isWhole = false;
    this.rows = new Map();
    all.addEventListener("click", () => this.fold(this.isWhole));
    this.body = element("tbody", {role: "rowgroup"});
    this.heads = columns.map((column) => this.head(column));
    this.node = element("table", {role: "table", "aria-label": caption},
                        element("caption", {class: "hidden"}, caption),
                        element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, ...this.heads)), this.body);
    this.showOrder();
  }

  head(column) {
    const button = element("button", {type: "button", title: column.about || null, onclick: () => this.sortBy(column)}, column.title);
    return element("th", {role: "columnheader", scope: "col", class: column.kind || "number"}, button);
  }

  sortBy(column) {
    const same = this.sorted.key === column.key;
    this.sorted = {key: column.key, down: same ? !this.sorted.down : column.kind !== "name"};
    this.ordered(this.order(this.text, true));
  }

  // A table that is folded again starts with the rows that have problems.
  fold(folded) {
    this.isWhole = !folded;
    this.sorted = this.first;
    this.ordered(this.order(this.text, true));
  }

  get isByTrouble() { return !this.isWhole && this.sorted === this.first && this.rows.size > TOP + 2; }

  showOrder() {
    this.columns.forEach((column, i) => {
      const now = column.key === this.sorted.key && !this.isByTrouble;
      if (now) this.heads[i].setAttribute("aria-sort", this.sorted.down ? "descending" : "ascending");
      else this.heads[i].removeAttribute("aria-sort");
    });
  }

  row(name, make) {
    if (!this.rows.has(name)) {
      const row = make();
      row.name = name;
      row.node = element("tr", {role: "row"}, ...this.columns.map((column, i) => {
        const cell = element(i === 0 ? "th" : "td", {role: i === 0 ? "rowheader" : "cell", scope: i === 0 ? "row" : null,
                                                    class: column.kind || "number", "data-title": column.title});
        cell.append(...row.cells[i]);
        return cell;
      }));
      this.rows.set(name, row);
    }
    return this.rows.get(name);
  }

  // Starts the numbers again, because another process follows.
  begin() {
    for (const row of this.rows.values()) row.recent = new Recent(row.recent.span);
  }

  keepOnly(names) {
    for (const name of this.rows.keys()) if (!names.has(name)) this.rows.delete(name);
  }

  // Shows and returns the rows whose name contains `text`. Unless `asked` is set, rows do not move while the table has the
  // pointer or the focus.
  order(text = this.text || "", asked = text !== (this.text || "")) {
    this.text = text;
    this.showOrder();
    const found = [...this.rows.values()].filter((row) => row.name.toLowerCase().includes(text.toLowerCase()));
    found.sort(this.isByTrouble ? byTrouble : byColumn(this.sorted));
    const isLong = found.length > TOP + 2;
    let shown = isLong && !this.isWhole ? found.slice(0, TOP) : found;
    this.all.hidden = !isLong;
    this.all.setAttribute("aria-expanded", String(this.isWhole));
    say(this.all, this.isWhole ? `Show only the ${TOP} with the most problems` : `Show all ${count(found.length)}`);
    const before = this.shown || [];
    const isRead = !asked && this.isByTrouble && this.node.matches(":hover, :focus-within");
    if (isRead && before.length === shown.length && before.every((row) => this.rows.get(row.name) === row)) shown = before;
    this.shown = shown;
    arrange(this.body, shown.map((row) => row.node));
    return shown;
  }

  // Returns how many rows of how many are shown; empty if all are shown.
  note() {
    const [all, shown] = [this.rows.size, this.shown.length];
    if (shown === all) return "";
    const order = this.isByTrouble ? ", most problems first" : "";
    return `${count(shown)} of ${count(all)}${order}. `;
  }
}

function byTrouble(one, other) {
  const [a, b] = [one.trouble || [], other.trouble || []];
  const place = a.findIndex((value, i) => value !== b[i]);
  return place < 0 ? 0 : b[place] - a[place];
}

// Equal rows keep their order.
function byColumn({key, down}) {
  const rank = (row) => row.sort[key] === null || row.sort[key] === undefined ? -1 : row.sort[key];
  return (a, b) => {
    const [one, other] = down ? [rank(b), rank(a)] : [rank(a), rank(b)];
    return typeof one === "string" ? one.localeCompare(other) : one - other;
  };
}

const ROUTE_COLUMNS = [
  {key: "place", title: "Route", kind: "name", about: "In the order of the configuration. The first route that matches a request handles it"},
  {key: "rate", title: "Rate", kind: "chart", about: "Requests per second"},
  {key: "success", title: "Success", about: "Share of the requests in the last minute that got a whole response with a status below 500 and no gRPC status that reports a failure of the server. Requests whose client left are not counted"},
  {key: "recovered", title: "Recovered", about: "Requests in the last minute that succeeded after a retry"},
  {key: "retries", title: "Retries/s", about: "Retries per second"},
  {key: "p50", title: "p50", about: "Half of the requests in the last minute took at most this long"},
  {key: "p99", title: "p99", about: "99 of 100 requests in the last minute took at most this long"},
  {key: "refused", title: "Not retried", kind: "reasons", about: "Requests that were not retried, by reason, since the start"},
  {key: "requests", title: "Requests", about: "Since the start"},
];

class Routes {
  constructor() {
    this.table = new Table("Routes", ROUTE_COLUMNS, {key: "place", down: false}, byId("routes-all"), (rows) => this.show(rows));
    byId("routes-table").append(this.table.node);
    byId("routes-filter").addEventListener("input", (event) => this.filter(event.target.value));
    this.known = new Map();  // by name: the newest data of each route
  }

  filter(text) { this.show(this.table.order(text)); }

  show(rows) {
    for (const row of rows) if (row.route) this.drawOne(row, this.at);
    byId("routes-unmatched").hidden = rows.length > 0 || this.known.size === 0;
    this.note();
  }

  // `all`: the list contains every route, else only those that have changed. `lived`: as in Tiles.
  count(routes, all, at, lived) {
    if (all) this.known = new Map();
    routes.forEach((route) => {
      const place = this.known.has(route.name) ? this.known.get(route.name).place : this.known.size;
      this.known.set(route.name, {...route, place});
    });
    this.table.keepOnly(this.known);
    for (const route of this.known.values()) {
      const {recent} = this.row(route.name);
      if (lived === null) recent.add(at, routeValues(route), route.durations || []);
      else recent.begin(at, routeValues(route), route.durations || [], routeSeconds(route), lived);
    }
  }

  draw(at, bounds) {
    this.at = at;
    for (const route of this.known.values()) this.measure(this.row(route.name), route, bounds);
    this.show(this.table.order());
  }

  note() {
    const all = this.known.size;
    say(byId("routes-note"), (this.table.note() || `${count(all)}. `) + "Figures cover the last minute.");
  }

  begin() { this.table.begin(); }

  row(name) {
    return this.table.row(name, () => {
      const part = (tag, kind) => element(tag, {class: kind || null});
      const row = {recent: new Recent(), spark: new Sparkline(), sort: {}, label: part("span", "label"), mode: part("span"), rule: part("span", "soft rule"),
                   rate: part("span", "value"), success: part("span"), recovered: part("span"), retries: part("span"), p50: part("span"),
                   p99: part("span"), refused: part("ul", "tags"), requests: part("span")};
      row.cells = [[row.label, row.mode, row.rule], [row.spark.node, row.rate], [row.success], [row.recovered], [row.retries], [row.p50],
                   [row.p99], [row.refused], [row.requests]];
      return row;
    });
  }

  // Computes the numbers that determine the order. Most rows of a long table are not drawn.
  measure(row, route, bounds) {
    const {recent} = row;
    const [judged, good] = [recent.grown("judged"), recent.grown("good")];
    const [p50, p99] = [recent.quantile(0.5, bounds), recent.quantile(0.99, bounds)];
    const values = routeValues(route);
    row.route = route;
    row.trouble = [recent.grown("failed") + recent.grown("refused"), recent.grown("retries"), values.failed + values.refused, values.requests];
    row.sort = {place: route.place, rate: recent.rate("requests"), success: judged > 0 ? good / judged : null, recovered: recent.grown("recovered"),
                retries: recent.rate("retries"), p50: p50 && p50.seconds, p99: p99 && p99.seconds, refused: values.refused,
                requests: values.requests};
    row.texts = {success: shareText(good, judged), recovered: judged > 0 ? count(recent.grown("recovered")) : NONE,
                 p50: quantileText(p50), p99: quantileText(p99)};
  }

  drawOne(row, at) {
    const {recent, route, sort, texts} = row;
    say(row.label, route.name);
    mark(row.mode, route.mode === "active" ? "hidden" : "tag");
    say(row.mode, route.mode);
    say(row.rule, route.mode === "off" ? "" : `idempotent: ${words(route.idempotent)}`);
    say(row.rate, rateText(sort.rate));
    row.spark.draw(recent.rates("requests"), at);
    say(row.success, texts.success);
    mark(row.success, sort.success !== null && sort.success < 1 ? (sort.success < 0.95 ? "bad-text" : "warn-text") : "");
    say(row.recovered, texts.recovered);
    say(row.retries, rateText(sort.retries));
    say(row.p50, texts.p50);
    say(row.p99, texts.p99);
    this.drawReasons(row.refused, route.refused || {});
    say(row.requests, count(sort.requests));
  }

  drawReasons(list, refused) {
    const wanted = Object.entries(refused).sort((a, b) => b[1] - a[1]).map(([reason, number]) => `${words(reason)}\u00a0${count(number)}`);
    while (list.children.length > wanted.length) list.lastChild.remove();
    while (list.children.length < wanted.length) list.append(element("li", {class: "tag"}));
    wanted.forEach((text, i) => say(list.children[i], text));
  }
}
