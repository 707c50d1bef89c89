// The routes as a table that can be sorted and filtered.

// A table with the roles said out loud: where it is narrow its cells are laid out as a list, which takes them from the elements.
class Table {
  constructor(caption, columns, sorted) {
    this.columns = columns;
    this.sorted = sorted;  // {key, down}
    this.rows = new Map();
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
    this.showOrder();
    this.order();
  }

  showOrder() {
    this.columns.forEach((column, i) => {
      const now = column.key === this.sorted.key;
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

  // Numbers of another process are to come.
  begin() {
    for (const row of this.rows.values()) row.recent = new Recent(row.recent.span);
  }

  keepOnly(names) {
    for (const name of this.rows.keys()) if (!names.has(name)) this.rows.delete(name);
  }

  // Rows whose name has `text` in it, in the order of the column that was chosen; equal ones as they came.
  order(text = this.text || "") {
    this.text = text;
    const {key, down} = this.sorted;
    const shown = [...this.rows.values()].filter((row) => row.name.toLowerCase().includes(text.toLowerCase()));
    const rank = (row) => row.sort[key] === null || row.sort[key] === undefined ? -1 : row.sort[key];
    shown.sort((a, b) => {
      const [one, other] = down ? [rank(b), rank(a)] : [rank(a), rank(b)];
      return typeof one === "string" ? one.localeCompare(other) : one - other;
    });
    arrange(this.body, shown.map((row) => row.node));
    return shown.length;
  }
}

const ROUTE_COLUMNS = [
  {key: "place", title: "Route", kind: "name", about: "In the order of the configuration: the first that matches has the request"},
  {key: "rate", title: "Rate", kind: "chart", about: "Requests a second"},
  {key: "success", title: "Success", about: "Requests of the last minute that were answered below 500, of those whose client stayed"},
  {key: "recovered", title: "Recovered", about: "Requests that were tried again and then succeeded, in the last minute"},
  {key: "retries", title: "Retries/s", about: "Further attempts a second"},
  {key: "p50", title: "p50", about: "Half of the last minute's requests took no longer"},
  {key: "p99", title: "p99", about: "99 of 100 of the last minute's requests took no longer"},
  {key: "refused", title: "Not tried again", kind: "reasons", about: "Requests that were not tried again, by reason, since the start"},
  {key: "requests", title: "Requests", about: "Since the start"},
];

class Routes {
  constructor() {
    this.table = new Table("Routes", ROUTE_COLUMNS, {key: "place", down: false});
    byId("routes-table").append(this.table.node);
    byId("routes-filter").addEventListener("input", (event) => this.filter(event.target.value));
    this.known = new Map();  // by name: the newest that was told
  }

  filter(text) {
    this.table.order(text);
    this.note();
  }

  // `all`: every route there is; otherwise those that have moved.
  take(routes, all) {
    if (all) this.known = new Map();
    routes.forEach((route) => {
      const place = this.known.has(route.name) ? this.known.get(route.name).place : this.known.size;
      this.known.set(route.name, {...route, place});
    });
    this.table.keepOnly(this.known);
  }

  draw(at, bounds) {
    for (const route of this.known.values()) this.drawOne(this.row(route.name), route, at, bounds);
    this.table.order();
    this.note();
  }

  note() {
    const [all, shown] = [this.known.size, this.table.body.children.length];
    say(byId("routes-note"), shown === all ? `${all}, by the last minute` : `${shown} of ${all}, by the last minute`);
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

  drawOne(row, route, at, bounds) {
    const values = routeValues(route);
    row.recent.add(at, values, route.durations || []);
    const recent = row.recent;
    const [judged, good] = [recent.grown("judged"), recent.grown("good")];
    const [p50, p99] = [recent.quantile(0.5, bounds), recent.quantile(0.99, bounds)];
    say(row.label, route.name);
    mark(row.mode, route.mode === "active" ? "hidden" : "tag");
    say(row.mode, route.mode);
    say(row.rule, route.mode === "off" ? "" : `idempotent: ${words(route.idempotent)}`);
    say(row.rate, rateText(recent.rate("requests")));
    row.spark.draw(recent.rates("requests"), at);
    say(row.success, shareText(good, judged));
    mark(row.success, judged > 0 && good < judged ? (good / judged < 0.95 ? "bad-text" : "warn-text") : "");
    say(row.recovered, judged > 0 ? count(recent.grown("recovered")) : NONE);
    say(row.retries, rateText(recent.rate("retries")));
    say(row.p50, quantileText(p50));
    say(row.p99, quantileText(p99));
    this.drawReasons(row.refused, route.refused || {});
    say(row.requests, count(values.requests));
    row.sort = {place: route.place, rate: recent.rate("requests"), success: judged > 0 ? good / judged : null, recovered: recent.grown("recovered"),
                retries: recent.rate("retries"), p50: p50 && p50.seconds, p99: p99 && p99.seconds, refused: values.refused,
                requests: values.requests};
  }

  drawReasons(list, refused) {
    const wanted = Object.entries(refused).sort((a, b) => b[1] - a[1]).map(([reason, number]) => `${words(reason)}\u00a0${count(number)}`);
    while (list.children.length > wanted.length) list.lastChild.remove();
    while (list.children.length < wanted.length) list.append(element("li", {class: "tag"}));
    wanted.forEach((text, i) => say(list.children[i], text));
  }
}
