// Computes rates, shares and quantiles of counters over the last minute. Uses neither the page nor a clock.

const MINUTE = 60;

// Samples of counters, the oldest first: {at: seconds, values: {name: number}, buckets: [counts]}.
class Recent {
  constructor(span = MINUTE) {
    this.span = span;
    this.samples = [];
  }

  // A counter that has decreased belongs to another process, so the earlier samples are discarded.
  add(at, values, buckets = []) {
    const last = this.samples[this.samples.length - 1];
    if (last && Object.keys(values).some((name) => values[name] < (last.values[name] || 0))) this.samples = [];
    this.samples.push({at, values, buckets});
    while (this.samples.length > 2 && this.samples[1].at <= at - this.span) this.samples.shift();
  }

  // Starts with the counts that the proxy has kept. `seconds`: {clock, values, buckets}, the growth in each second, the oldest first;
  // a second without an entry added nothing. `lived`: number of the last seconds in which the proxy was running.
  begin(at, values, buckets, seconds, lived) {
    const end = Math.max(Math.floor(at), ...seconds.map((second) => second.clock));
    const added = new Map(seconds.map((second) => [second.clock, second]));
    const back = [{at: Math.max(at, end), values, buckets}];
    for (let clock = end; clock > end - lived; --clock) {
      const [after, growth] = [back[back.length - 1], added.get(clock)];
      back.push({at: clock, values: growth ? without(after.values, growth.values) : after.values,
                 buckets: growth ? after.buckets.map((number, i) => number - (growth.buckets[i] || 0)) : after.buckets});
    }
    this.samples = back.reverse();
  }

  get first() { return this.samples[0]; }
  get last() { return this.samples[this.samples.length - 1]; }
  get seconds() { return this.samples.length < 2 ? 0 : this.last.at - this.first.at; }

  // Returns the growth of a counter within the window.
  grown(name) {
    return this.samples.length < 2 ? 0 : (this.last.values[name] || 0) - (this.first.values[name] || 0);
  }

  // Returns the rate per second over the newest `seconds`.
  rate(name, seconds = 5) {
    if (this.samples.length < 2) return null;
    let from = this.first;
    for (const sample of this.samples) {
      if (sample.at > this.last.at - seconds) break;
      from = sample;
    }
    const span = this.last.at - from.at;
    return span > 0 ? ((this.last.values[name] || 0) - (from.values[name] || 0)) / span : null;
  }

  // Returns one rate for each pair of samples, for a small chart.
  rates(name) {
    const rates = [];
    for (let i = 1; i < this.samples.length; ++i) {
      const [before, after] = [this.samples[i - 1], this.samples[i]];
      const span = after.at - before.at;
      if (span <= 0) continue;
      rates.push({at: after.at, value: ((after.values[name] || 0) - (before.values[name] || 0)) / span});
    }
    return rates;
  }

  // Returns the quantile of the counts between the first sample and the sample `at`.
  quantile(q, bounds, at = this.last) {
    if (this.samples.length < 2) return null;
    const before = this.first.buckets;
    return quantile(q, at.buckets.map((count, i) => count - (before[i] || 0)), bounds);
  }
}

function without(values, less) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value - (less[name] || 0)]));
}

// Computes a quantile as Prometheus does, by linear interpolation within a bucket. Returns {seconds, above}; `above`: beyond the last bound.
function quantile(q, counts, bounds) {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all <= 0) return null;
  const rank = q * all;
  let seen = 0;
  for (let i = 0; i < bounds.length; ++i) {
    const low = i === 0 ? 0 : bounds[i - 1];
    if (seen + counts[i] >= rank && counts[i] > 0) return {seconds: low + (bounds[i] - low) * (rank - seen) / counts[i], above: false};
    seen += counts[i];
  }
  return {seconds: bounds[bounds.length - 1], above: true};
}

function sum(counts) {
  return Object.values(counts || {}).reduce((total, count) => total + count, 0);
}

// Returns the counters of a route as flat numbers. A request whose client has gone is not a failure.
function numbersOf(requests, failed, gone, retries, recovered, refused) {
  return {requests, judged: requests - gone, good: requests - gone - failed, failed, retries, recovered, refused};
}

function routeValues(route) {
  const sent = route.responses || {};
  return numbersOf(route.requests || 0, (sent["5xx"] || 0) + (sent.grpc || 0) + (sent.cut || 0), sent.client_gone || 0, route.retries || 0,
                   route.recovered || 0, sum(route.refused));
}

// Returns the same for each second that the proxy has kept.
function routeSeconds(route) {
  return (route.last_minute || []).map((one) => ({
    clock: one.clock, buckets: one.durations || [],
    values: numbersOf(one.requests || 0, one.failed || 0, one.client_gone || 0, one.retries || 0, one.recovered || 0, one.refused || 0)}));
}

// Adds two lists of buckets, which may differ in length.
function added(one, other) {
  return Array.from({length: Math.max(one.length, other.length)}, (_, i) => (one[i] || 0) + (other[i] || 0));
}

// Returns the sums over all routes.
function sumOf(parts) {
  const values = {};
  for (const part of parts) for (const [name, value] of Object.entries(part.values)) values[name] = (values[name] || 0) + value;
  return {values, buckets: parts.reduce((all, part) => added(all, part.buckets), [])};
}

function sumOfSeconds(routes) {
  const by = new Map();
  for (const second of routes.flatMap(routeSeconds)) by.set(second.clock, [...(by.get(second.clock) || []), second]);
  return [...by.keys()].sort((a, b) => a - b).map((clock) => ({clock, ...sumOf(by.get(clock))}));
}

const PASSING = new Set(["2xx", "3xx", "4xx"]);

function upstreamValues(upstream) {
  const attempts = sum(upstream.attempts);
  const passed = Object.entries(upstream.attempts || {}).filter(([outcome]) => PASSING.has(outcome));
  return {attempts, failed: attempts - passed.reduce((total, [, count]) => total + count, 0)};
}

function upstreamSeconds(upstream) {
  return (upstream.last_minute || []).map((one) => ({clock: one.clock, buckets: [],
                                                     values: {attempts: one.attempts || 0, failed: one.failed || 0}}));
}
