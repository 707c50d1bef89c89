// The last requests that were retried, refused, cut or failed, each as the attempts and waits that it was made of.

const MOST_STORIES = 100;

// What became of it: the look of its badge, and its words.
function verdictOf(story) {
  const attempts = attemptsOf(story);
  if (story.ending === "client_gone") return {kind: "idle", text: "client left"};
  if (story.ending === "cut") return {kind: "bad", text: "cut off"};
  if (story.recovered) return {kind: "good", text: `recovered, attempt ${attempts}`};
  if (story.reason === "success") return {kind: "good", text: "answered"};
  if (attempts === 0) return {kind: "bad", text: "nothing sent"};
  if (story.status !== null && story.status < 500 && attempts > 1) return {kind: "idle", text: `answered, attempt ${attempts}`};
  return attempts === 1 ? {kind: "warn", text: "not tried again"} : {kind: "bad", text: `failed after ${attempts} attempts`};
}

function attemptsOf(story) { return story.attempts.length + (story.attempts_left_out || 0); }

function outcomeOf(attempt) {
  return attempt.status !== undefined ? String(attempt.status) : `${words(attempt.stage)}: ${words(attempt.error)}`;
}

// The same, short enough for a bar.
function outcomeWord(attempt) { return attempt.status !== undefined ? String(attempt.status) : words(attempt.error); }

function attemptKind(attempt) {
  if (attempt.status === undefined) return attempt.error === "cancelled" ? "idle" : "bad";
  if (attempt.reason === "success") return "good";
  return attempt.status < 400 ? "good" : attempt.status < 500 ? "warn" : "bad";
}

function whereOf(story) {
  const port = (story.tls && story.port === 443) || (!story.tls && story.port === 80) ? "" : ":" + story.port;
  return story.host + port + (story.path || "");
}

// Widths follow time. What is too short to be read is wider than its time.
function barOf(story) {
  const bar = element("ol", {class: story.attempts.length > 4 ? "bar many" : "bar", "aria-label": "Attempts and waits"});
  const all = story.attempts.reduce((total, attempt) => total + attempt.ms + attempt.wait_ms, 0) || 1;
  const grow = (part, span, least) => {
    part.style.flexGrow = Math.max(1000 * span / all, 1);
    // What is alone in a second line is not drawn longer than it took.
    part.style.maxWidth = `max(${(100 * span / all).toFixed(2)}%, ${least}rem)`;
  };
  story.attempts.forEach((attempt, i) => {
    if (story.attempts_left_out && i === story.attempts_before_the_gap) {
      bar.append(element("li", {class: "gap"}, `${count(story.attempts_left_out)} more`));
    }
    if (attempt.wait_ms > 0) {
      const wait = element("li", {class: "wait", title: `waited ${spanText(attempt.wait_ms)}`},
                           element("span", {class: "hidden"}, "waited "), spanText(attempt.wait_ms));
      grow(wait, attempt.wait_ms, 7);
      bar.append(wait);
    }
    const kind = attemptKind(attempt);
    const part = element("li", {class: `attempt ${kind}`, title: `attempt ${attempt.n}: ${outcomeOf(attempt)} after ${spanText(attempt.ms)}`},
                         element("span", {class: "hidden"}, `attempt ${attempt.n}: `), outcomeWord(attempt),
                         element("span", {class: "took"}, spanText(attempt.ms)));
    grow(part, attempt.ms, 14);
    bar.append(part);
  });
  return bar;
}

function attemptRow(attempt) {
  const delay = attempt.delay_ms === undefined ? null : spanText(attempt.delay_ms);
  const bounds = attempt.delay_highest_ms === undefined ? ""
      : ` (drawn from ${spanText(attempt.delay_lowest_ms || 0)} to ${spanText(attempt.delay_highest_ms)})`;
  const next = attempt.retry ? `again${delay ? " after " + delay + bounds : " at once"}` : "no more";
  const facts = [attempt.address || "not dialled", attempt.reused ? "kept connection" : null,
                 attempt.may_have_sent ? `${bytesText(attempt.sent_bytes)} sent` : "nothing sent",
                 attempt.retry_after_ms === undefined ? null : `Retry-After ${spanText(attempt.retry_after_ms)}`,
                 attempt.budget_left === undefined ? null : `budget for ${count(attempt.budget_left)} more`];
  return element("li", {}, element("strong", {}, `${attempt.n}. ${outcomeOf(attempt)}`), ` at ${spanText(attempt.at_ms)}, took ${spanText(attempt.ms)}`,
                 element("br"), element("span", {class: "soft"}, facts.filter(Boolean).join(", ")),
                 element("br"), `${words(attempt.reason)}: ${next}`);
}

// Why it went as it did, in one sentence.
function reasonOf(story) {
  if (story.reason !== "success") return element("p", {class: "why"}, element("strong", {}, words(story.reason)), `: ${story.meaning}.`);
  const why = [...new Set(story.attempts.filter((attempt) => attempt.retry).map((attempt) => words(attempt.reason)))].join(", ");
  return element("p", {class: "why"}, why ? `Tried again: ${why}.` : "Nothing was refused.");
}

function detailsOf(story) {
  const facts = [whereOf(story), `route ${story.route}`, story.client ? `client ${story.client}` : null, story.request_id ? `X-Request-Id ${story.request_id}` : null,
                 `${bytesText(story.request_bytes)} up, ${bytesText(story.response_bytes)} down`,
                 story.ambiguous ? "may have taken effect" : null];
  return element("details", {}, element("summary", {}, "Every attempt"),
                 element("ol", {class: "attempts"}, ...story.attempts.map(attemptRow)),
                 element("p", {class: "soft"}, facts.filter(Boolean).join(", ")),
                 element("p", {}, element("code", {}, `reprise explain --request-id ${story.id}`), " or ",
                         element("a", {href: "/stories/" + encodeURIComponent(story.id) + "?format=text"}, "the same as text")));
}

function storyNode(story) {
  const verdict = verdictOf(story);
  const status = story.status === null ? "no response" : String(story.status);
  return element("li", {class: "story " + verdict.kind},
                 element("div", {class: "line"},
                         element("time", {datetime: story.time}, clockText(new Date(story.time))),
                         element("span", {class: "what", title: whereOf(story)}, element("strong", {}, story.method), " ", element("span", {}, whereOf(story))),
                         element("span", {class: "end"}, element("span", {class: `tag ${verdict.kind}`}, verdict.text),
                                 element("span", {class: "soft"}, `${status}, ${spanText(story.ms)}`))),
                 story.attempts.length > 0 ? barOf(story) : null, reasonOf(story),
                 story.advice ? element("p", {class: "advice"}, element("span", {class: "soft"}, "What would change it: "), story.advice) : null,
                 detailsOf(story));
}

function searchText(story) {
  return [story.method, whereOf(story), story.route, words(story.reason), story.reason, story.id, story.request_id, story.client, story.status,
          ...story.attempts.map(outcomeOf)].join(" ").toLowerCase();
}

class Stories {
  constructor() {
    this.list = byId("stories-list");
    this.all = [];      // the newest first: {story, node, kind, text}
    this.waiting = [];  // newer than what is shown, while somebody reads
    this.ids = new Set();
    this.held = false;
    byId("stories-filter").addEventListener("input", () => this.show());
    byId("stories-kind").addEventListener("change", () => this.show());
    byId("stories-more").addEventListener("click", () => this.release());
    this.list.addEventListener("toggle", () => this.settle(), true);
    this.list.addEventListener("mouseleave", () => this.settle());
    this.list.addEventListener("focusout", () => setTimeout(() => this.settle()));
  }

  // Nothing moves under a pointer, under the focus, or below something that was opened.
  get isRead() {
    return this.held || this.list.matches(":hover, :focus-within") || this.list.querySelector("details[open]") !== null;
  }

  clear() {
    this.all = [];
    this.waiting = [];
    this.ids.clear();
    this.show();
  }

  take(story) {
    if (this.ids.has(story.id)) return;
    this.ids.add(story.id);
    const entry = {story, kind: verdictOf(story).kind, text: searchText(story)};
    if (this.isRead && this.all.length > 0) {
      this.waiting.unshift(entry);
      this.forget(this.waiting);
    } else {
      this.all.unshift(entry);
    }
  }

  forget(list) {
    for (const old of list.splice(MOST_STORIES)) this.ids.delete(old.story.id);
  }

  settle() {
    if (!this.isRead && this.waiting.length > 0) this.release();
  }

  release() {
    this.all.unshift(...this.waiting);
    this.waiting = [];
    this.show();
  }

  show() {
    this.forget(this.all);
    const text = byId("stories-filter").value.trim().toLowerCase();
    const kind = byId("stories-kind").value;
    const shown = this.all.filter((entry) => (!kind || entry.kind === kind) && entry.text.includes(text));
    for (const entry of shown) entry.node = entry.node || storyNode(entry.story);
    arrange(this.list, shown.map((entry) => entry.node));
    const more = byId("stories-more");
    more.hidden = this.waiting.length === 0;
    say(more, `Show ${count(this.waiting.length)} newer`);
    byId("stories-none").hidden = this.all.length > 0;
    const all = this.all.length + this.waiting.length;
    say(byId("stories-note"), all === 0 ? "" : shown.length === this.all.length ? `the last ${count(all)}` : `${count(shown.length)} of the last ${count(all)}`);
  }
}
