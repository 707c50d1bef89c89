// Connects the parts: passes new data to each, then draws the page once.

class Page {
  constructor() {
    this.tiles = new Tiles();
    this.routes = new Routes();
    this.upstreams = new Upstreams();
    this.stories = new Stories();
    this.notices = new Notices();
    this.status = null;
    this.paused = false;
    this.lastSeen = null;  // time at which the connection was lost
    byId("pause").addEventListener("click", () => this.pause(!this.paused));
    this.feed = new Feed({
      status: (status, isWhole) => this.take(status, isWhole),
      stories: (stories) => { stories.forEach((story) => { this.stories.beginSecond(); this.stories.take(story); }); this.stories.show(); },
      story: (story) => { this.stories.take(story); this.stories.show(); },
      link: (kind, text) => this.showLink(kind, text),
      lost: (text) => this.showLost(text),
      found: () => { this.lastSeen = null; this.notices.clear("link"); },
    });
    this.feed.open();
  }

  showLink(kind, text) {
    this.link = [kind, text];
    const paused = this.paused && kind === "good";
    say(byId("link"), paused ? "paused" : text);
    mark(byId("link"), `pill ${paused ? "idle" : kind}`);
  }

  // Keeps the time of the first failure; later failures do not change it.
  showLost(text) {
    if (this.lastSeen === null) this.lastSeen = clockText(new Date());
    this.notices.set("link", "bad", `${text} This page shows the state at ${this.lastSeen}. It reconnects automatically.`);
    drawUnknown();
  }

  // While paused, numbers are still counted, so that the charts have no gap, but not drawn.
  pause(paused) {
    this.paused = paused;
    this.stories.held = paused;
    const button = byId("pause");
    button.setAttribute("aria-pressed", String(paused));
    say(button, paused ? "Continue" : "Pause");
    if (this.link) this.showLink(...this.link);
    this.stories.settle();
    if (this.status && !paused) this.draw(this.at);
  }

  take(status, isWhole) {
    // Another process: discards the old histories and starts the numbers again.
    if (this.status && this.status.started !== status.started) this.begin();
    this.status = status;
    this.at = status.clock;
    this.stories.beginSecond();
    this.count(isWhole);
    if (!this.paused) this.draw(this.at);
  }

  // A whole document contains the last minute, so that a page that was just opened shows it.
  count(isWhole) {
    const {status, at} = this;
    const lived = isWhole ? status.last_minute_seconds ?? null : null;
    this.routes.count(status.routes, isWhole, at, lived);
    this.tiles.count([...this.routes.known.values()], at, status.duration_bounds, lived);
    this.upstreams.count(status.upstreams, at, lived);
  }

  begin() {
    this.stories.clear();
    this.tiles.begin();
    this.routes.begin();
    this.upstreams.begin();
  }

  draw(at) {
    const {status} = this;
    drawHeader(status);
    this.notices.take(status);
    this.tiles.draw(at, status.duration_bounds);
    this.routes.draw(at, status.duration_bounds);
    this.upstreams.draw(status.totals, at);
    drawTunnels(status);
    drawFirstSteps(status);
    this.stories.explainEmpty(status);
    drawSettings(status);
    drawJumps({routes: this.routes.known.size, upstreams: status.upstreams.length, tunnels: tunnelsOf(status)});
  }
}

const page = new Page();
