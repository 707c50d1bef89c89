// Gets the data of the page: from /events while connected, else from /status and /stories.

const LOOK_AGAIN = [1000, 2000, 4000, 8000];  // milliseconds between tries; the last value repeats
const SILENCE = 8000;                         // milliseconds without an event after which a stream counts as lost

// Calls told.status(document, isWhole), told.stories(list), told.story(one), told.link(kind, text), told.lost(text), told.found().
class Feed {
  constructor(told) {
    this.told = told;
    this.failures = 0;
    this.isLost = false;
    this.isEnded = false;
    // A page in the browser's back-forward cache releases its place.
    window.addEventListener("pagehide", () => this.close());
    window.addEventListener("pageshow", (event) => { if (event.persisted) this.open(); });
  }

  open() {
    this.close();
    this.isEnded = false;
    const source = this.source = new EventSource("/events");
    const on = (name, take) => source.addEventListener(name, (event) => {
      if (source === this.source) this.heard(take, event.data);
    });
    on("status", (status) => this.told.status(status, true));
    on("change", (status) => this.told.status(status, false));
    on("stories", (stories) => this.told.stories(stories));
    on("story", (story) => this.told.story(story));
    on("end", () => { this.isEnded = true; });
    source.addEventListener("error", () => { if (source === this.source) this.failed(); });
    this.watch();
  }

  close() {
    if (this.source) this.source.close();
    this.source = null;
    clearTimeout(this.again);
    clearTimeout(this.silent);
  }

  watch() {
    clearTimeout(this.silent);
    this.silent = setTimeout(() => this.failed(), SILENCE);
  }

  heard(take, text) {
    this.failures = 0;
    this.found("live");
    this.watch();
    take(JSON.parse(text));
  }

  found(text) {
    this.told.link("good", text);
    if (this.isLost) this.told.found();
    this.isLost = false;
  }

  // Replaces the browser's own reconnection, which gives up after a 503 and does not report its tries.
  async failed() {
    this.close();
    const pause = LOOK_AGAIN[Math.min(this.failures, LOOK_AGAIN.length - 1)];
    this.failures += 1;
    if (await this.look()) {
      this.found("polling");
    } else {
      this.isLost = true;
      this.told.link("bad", "connection lost");
      this.told.lost(this.isEnded ? "The proxy has shut down, or its admin listener has moved." : "The connection to the proxy is lost.");
    }
    clearTimeout(this.again);
    this.again = setTimeout(() => this.open(), pause);
  }

  async look() {
    try {
      const [status, stories] = await Promise.all(["/status", "/stories"].map(async (path) => {
        const response = await fetch(path, {cache: "no-store", signal: AbortSignal.timeout(SILENCE)});
        if (!response.ok) throw new Error(String(response.status));
        return response.json();
      }));
      this.told.status(status, true);
      this.told.stories(stories);
      return true;
    } catch {
      return false;
    }
  }
}
