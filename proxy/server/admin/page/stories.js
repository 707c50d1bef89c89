// The request history: the last requests that were retried, refused, cut or failed, each with its attempts and waits.

const MOST_STORIES = 100;  // groups of identical requests
const MOST_IDS = 2000;      // ids of requests already received
const MOST_EARLIER = 20;    // identical requests that are linked by id
const MOST_A_SECOND = 30;   // maximum that the proxy sends in one second

// Returns the style and the text of a request's badge.
function verdictOf(story) {
  const attempts = attemptsOf(story);
  if (story.ending === "client_gone") return {kind: "idle", text: "client left"};
  if (story.ending === "cut") return {kind: "bad", text: "cut off"};
  if (story.recovered) return {kind: "good", text: `recovered, attempt ${attempts}`};
  if (story.reason === "success") return isFailedCall(callStatusOf(story)) ? {kind: "bad", text: "call failed"} : {kind: "good", text: "succeeded"};
  if (attempts === 0) return {kind: "bad", text: "nothing sent"};
  if (story.status !== null && story.status < 500 && !isFailedCall(callStatusOf(story)) && attempts > 1) return {kind: "idle", text: `response of attempt ${attempts}`};
  return attempts === 1 ? {kind: "warn", text: "not retried"} : {kind: "bad", text: `failed after ${attempts} attempts`};
}

function attemptsOf(story) { return story.attempts.length + (story.attempts_left_out || 0); }

// Returns the HTTP status, and the status of a gRPC call if it is known.
function statusText(status, grpc) {
  if (grpc === undefined) return String(status);
  return `${status === 200 ? "" : status + " "}grpc ${words(grpc)}`;
}

function isFailedCall(grpc) { return grpc !== undefined && grpc !== "ok"; }

// Returns the status of the gRPC call; undefined for other requests, and if the response had none.
function callStatusOf(story) { return story.grpc === undefined ? undefined : story.grpc.status; }

function outcomeOf(attempt) {
  const code = attempt.reset_code === undefined ? "" : ` (${words(attempt.reset_code)})`;
  return attempt.status !== undefined ? statusText(attempt.status, attempt.grpc) : `${words(attempt.stage)}: ${words(attempt.error)}${code}`;
}

// Returns the outcome, short enough for a bar.
function outcomeWord(attempt) { return attempt.status !== undefined ? statusText(attempt.status, attempt.grpc) : words(attempt.error); }

function attemptKind(attempt) {
  if (attempt.status === undefined) return attempt.error === "cancelled" ? "idle" : "bad";
  if (attempt.reason === "success") return "good";
  if (attempt.status < 400) return isFailedCall(attempt.grpc) ? "bad" : "good";
  return attempt.status < 500 ? "warn" : "bad";
}

function whereOf(story) {
  const port = (story.tls && story.port === 443) || (!story.tls && story.port === 80) ? "" : ":" + story.port;
  return story.host + port + (story.path || "");
}

// Draws attempts and waits in one line, with widths in proportion to time. Too narrow parts have no text. `need`: width of the text in rem.
function barOf(story) {
  const bar = element("ol", {class: "bar", "aria-label": "Attempts and waits"});
  const all = story.attempts.reduce((total, attempt) => total + attempt.ms + attempt.wait_ms, 0) || 1;
  const put = (part, span, need) => {
    part.style.flexGrow = Math.max(1000 * span / all, 1);
    part.style.flexBasis = `${need}rem`;
    bar.append(part);
  };
  story.attempts.forEach((attempt, i) => {
    if (story.attempts_left_out && i === story.attempts_before_the_gap) {
      const more = `${count(story.attempts_left_out)} more`;
      put(element("li", {class: "gap", title: `${more} attempts`}, fitting(more)), 0, widthOf(more));
    }
    if (attempt.wait_ms > 0) {
      const wait = spanText(attempt.wait_ms);
      put(element("li", {class: "wait", title: `waited ${wait}`}, element("span", {class: "hidden"}, "waited "), fitting(wait)),
          attempt.wait_ms, widthOf(wait));
    }
    const [outcome, took] = [outcomeWord(attempt), spanText(attempt.ms)];
    put(element("li", {class: `attempt ${attemptKind(attempt)}`, title: `attempt ${attempt.n}: ${outcomeOf(attempt)} after ${took}`},
                element("span", {class: "hidden"}, `attempt ${attempt.n}: `), fitting(outcome), fitting(took, `${outcome} ${took}`, "took")),
        attempt.ms, widthOf(`${outcome} ${took}`));
  });
  return bar;
}

const WIDTHS = [2, 3, 4, 5, 6, 8, 10, 14];  // rem; the style sheet hides a text if its part of the bar is narrower

function widthOf(text) {
  const width = 0.9 + 0.5 * text.length;
  return WIDTHS.find((each) => each >= width) || WIDTHS[WIDTHS.length - 1];
}

// Makes a text of a bar that is visually hidden if there is no room for `whole`.
function fitting(text, whole = text, kind = "") {
  return element("span", {class: `${kind} needs-${widthOf(whole)}`.trim()}, text);
}

function attemptRow(attempt) {
  const delay = attempt.delay_ms === undefined ? null : spanText(attempt.delay_ms);
  const bounds = attempt.delay_highest_ms === undefined ? ""
      : ` (drawn from ${spanText(attempt.delay_lowest_ms || 0)} to ${spanText(attempt.delay_highest_ms)})`;
  const next = attempt.retry ? `retried${delay ? " after " + delay + bounds : " at once"}` : "no retry";
  const facts = [attempt.address || "not dialled", attempt.http === undefined ? null : `HTTP/${attempt.http}`,
                 attempt.queued_ms === undefined ? null : `${spanText(attempt.queued_ms)} in the queue for a stream`, attempt.reused ? "reused connection" : null,
                 attempt.may_have_sent ? `${bytesText(attempt.sent_bytes)} sent` : "nothing sent",
                 attempt.retry_after_ms === undefined ? null : `Retry-After ${spanText(attempt.retry_after_ms)}`,
                 attempt.budget_left === undefined ? null : `budget left for ${count(attempt.budget_left)} retries`];
  return element("li", {}, element("strong", {}, `${attempt.n}. ${outcomeOf(attempt)}`), ` at ${spanText(attempt.at_ms)}, took ${spanText(attempt.ms)}`,
                 element("br"), element("span", {class: "soft"}, facts.filter(Boolean).join(", ")),
                 element("br"), `${words(attempt.reason)}: ${next}`);
}

// Returns the reason in one sentence.
function reasonOf(story) {
  if (story.reason !== "success") return element("p", {class: "why"}, element("strong", {}, words(story.reason)), `: ${story.meaning}.`);
  const why = [...new Set(story.attempts.filter((attempt) => attempt.retry).map((attempt) => words(attempt.reason)))].join(", ");
  return element("p", {class: "why"}, why ? `Retried: ${why}.` : "No retry was sent or refused.");
}

// Returns the --admin option with the address of this page, which the admin listener served.
function adminOption() {
  const {hostname, port} = window.location;
  return `--admin ${shellWord(`${hostname}:${port || "80"}`)}`;
}

function storyLink(story, text) { return element("a", {href: "/stories/" + encodeURIComponent(story.id) + "?format=text"}, text); }

function detailsOf(story, earlier) {
  const facts = [whereOf(story), `route ${story.route}`, story.client ? `client ${story.client}` : null, story.request_id ? `X-Request-Id ${story.request_id}` : null,
                 `${bytesText(story.request_bytes)} up, ${bytesText(story.response_bytes)} down`,
                 story.ambiguous ? "an earlier attempt may have taken effect" : null];
  const before = earlier.flatMap((each, i) => [i === 0 ? "Earlier: " : ", ", storyLink(each, clockText(new Date(each.time)))]);
  return element("details", {}, element("summary", {}, "Every attempt"),
                 element("ol", {class: "attempts"}, ...story.attempts.map(attemptRow)),
                 element("p", {class: "soft"}, facts.filter(Boolean).join(", ")),
                 element("p", {}, element("code", {}, `reprise explain --request-id ${shellWord(story.id)} ${adminOption()}`), " or ",
                         storyLink(story, "the same as text")),
                 before.length > 0 ? element("p", {class: "soft"}, ...before) : null);
}

// Makes the element for a group of identical requests: the newest one, their number, the time of the first, and links to earlier ones.
function storyNode({story, times, since, earlier, isPartial}) {
  const verdict = verdictOf(story);
  const status = story.status === null ? "no response" : statusText(story.status, callStatusOf(story));
  const repeated = times > 1 ? element("span", {class: "tag idle times"}, `${isPartial ? "at least " : ""}${count(times)} times since ${clockText(since)}`) : null;
  return element("li", {class: "story " + verdict.kind},
                 element("div", {class: "line"},
                         element("time", {datetime: story.time}, clockText(new Date(story.time))),
                         element("span", {class: "what", title: whereOf(story)}, element("strong", {}, story.method), " ", element("span", {}, whereOf(story))),
                         element("span", {class: "end"}, story.tunnel ? element("span", {class: "tag idle"}, "tunnel") : null,
                                 element("span", {class: `tag ${verdict.kind}`}, verdict.text), repeated,
                                 element("span", {class: "soft"}, `${status}, ${spanText(story.ms)}`))),
                 story.attempts.length > 0 ? barOf(story) : null, reasonOf(story),
                 story.advice ? element("p", {class: "advice"}, element("span", {class: "soft"}, "To change this: "), story.advice) : null,
                 detailsOf(story, earlier));
}

// Returns a key that is equal for identical requests: same request, same outcome of each attempt. Times may differ.
function likenessOf(story) {
  return JSON.stringify([story.method, whereOf(story), story.route, story.status, callStatusOf(story), story.ending, story.reason, Boolean(story.ambiguous),
                         story.attempts_left_out > 0, ...story.attempts.map((attempt) => [outcomeOf(attempt), attempt.reason])]);
}

function searchText(story) {
  return [story.method, whereOf(story), story.route, words(story.reason), story.reason, story.id, story.request_id, story.client, story.status, callStatusOf(story),
          ...story.attempts.map(outcomeOf)].join(" ").toLowerCase();
}

class Stories {
  constructor() {
    this.list = byId("stories-list");
    this.all = [];      // groups of identical requests, the newest first: {story, times, since, earlier, likeness, node, kind, text}
    this.waiting = [];  // newer groups that are not shown while a person reads
    this.ids = new Set();
    this.held = false;
    this.inSecond = 0;
    byId("stories-filter").addEventListener("input", () => this.show());
    byId("stories-kind").addEventListener("change", () => this.show());
    byId("stories-more").addEventListener("click", () => this.release());
    this.list.addEventListener("toggle", () => this.settle(), true);
    this.list.addEventListener("mouseleave", () => this.settle());
    this.list.addEventListener("focusout", () => setTimeout(() => this.settle()));
  }

  // True while the list has the pointer, the focus or open details. Nothing is moved then.
  get isRead() {
    return this.held || this.list.matches(":hover, :focus-within") || this.list.querySelector("details[open]") !== null;
  }

  clear() {
    this.all = [];
    this.waiting = [];
    this.ids.clear();
    this.show();
  }

  // Starts a new second. If the proxy reaches its limit for one second, the number of requests is a lower bound.
  beginSecond() { this.inSecond = 0; }

  // Returns the number of known requests, including those in groups.
  get size() { return [...this.all, ...this.waiting].reduce((total, group) => total + group.times, 0); }

  take(story) {
    if (this.ids.has(story.id)) return;
    this.ids.add(story.id);
    if (this.ids.size > MOST_IDS) this.ids.delete(this.ids.values().next().value);
    const kind = verdictOf(story).kind;
    const fresh = {story, likeness: likenessOf(story), kind, text: searchText(story), times: 1, since: new Date(story.time), earlier: [],
                   isPartial: ++this.inSecond >= MOST_A_SECOND};
    this.put(fresh, this.isRead && this.all.length > 0 ? this.waiting : this.all);
  }

  // Puts a group first in a list, and merges an identical group of that list into it.
  put(group, list) {
    const place = list.findIndex((each) => each.likeness === group.likeness);
    if (place >= 0) {
      const [old] = list.splice(place, 1);
      group.times += old.times;
      group.since = old.since;
      group.isPartial = group.isPartial || old.isPartial;
      group.earlier = [...group.earlier, old.story, ...old.earlier].slice(0, MOST_EARLIER);
    }
    list.unshift(group);
    list.splice(MOST_STORIES);
  }

  settle() {
    if (!this.isRead && this.waiting.length > 0) this.release();
  }

  release() {
    for (const group of this.waiting.reverse()) this.put(group, this.all);
    this.waiting = [];
    this.show();
  }

  show() {
    const text = byId("stories-filter").value.trim().toLowerCase();
    const kind = byId("stories-kind").value;
    const isKind = (group) => !kind || group.kind === kind || (kind === "tunnel" && Boolean(group.story.tunnel));
    const shown = this.all.filter((group) => isKind(group) && group.text.includes(text));
    for (const group of shown) group.node = group.node || storyNode(group);
    arrange(this.list, shown.map((group) => group.node));
    const more = byId("stories-more");
    const newer = this.waiting.reduce((total, group) => total + group.times, 0);
    more.hidden = newer === 0;
    say(more, `Show ${count(newer)} newer`);
    byId("stories-none").hidden = this.all.length > 0;
    byId("stories-unmatched").hidden = this.all.length === 0 || shown.length > 0;
    say(byId("stories-note"), this.noteOf(shown));
    drawJumps({stories: this.size});
  }

  noteOf(shown) {
    if (this.size === 0) return "";
    const times = shown.reduce((total, group) => total + group.times, 0);
    if (shown.length < this.all.length) return `${count(times)} of the last ${count(this.size)}`;
    return this.size > this.all.length ? `the last ${count(this.size)}, identical ones grouped` : `the last ${count(this.size)}`;
  }

  // Explains why the list is empty, and what to do.
  explainEmpty(status) {
    const {requests} = status.totals;
    const tunnels = tunnelsOf(status);
    const rule = "This list shows every request that was retried, was not allowed a retry, was cut off or failed, with the reason.";
    if (requests > 0) {
      const which = requests === 1 ? "the only request so far" : `each of the ${count(requests)} requests so far`;
      fill(byId("stories-none"),
           element("p", {}, `None yet: ${which} got its response at the first attempt. ${rule}`),
           element("p", {}, "To see what would happen after a failure:"),
           commandLine(`reprise explain GET http://api.example.com/ --status 503${fileOption(status)}`));
    } else if (tunnels > 0) {
      fill(byId("stories-none"),
           element("p", {}, `None yet. All traffic so far is in tunnels. reprise cannot read or retry the requests in a tunnel: see `,
                   element("a", {href: "#tunnels-card"}, "Tunnels"), "."));
    } else {
      fill(byId("stories-none"), element("p", {}, `None yet. ${rule}`));
    }
  }
}
