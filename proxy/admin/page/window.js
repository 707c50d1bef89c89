// What counters come to within the last minute: rates, shares and quantiles. No page and no clock in here.

const MINUTE = 60;

// Counters as they were at some moments, the oldest first: {at: seconds, values: {name: number}, buckets: [counts]}.
class Recent {
  constructor(span = MINUTE) {
    this.span = span;
    this.samples = [];
  }

  // A counter that has fallen belongs to another process: what was before is no part of it.
  add(at, values, buckets = []) {
    const last = this.samples[this.samples.length - 1];
    if (last && Object.keys(values).some((name) => values[name] < (last.values[name] || 0))) this.samples = [];
    this.samples.push({at, values, buckets});
    while (this.samples.length > 2 && this.samples[1].at <= at - this.span) this.samples.shift();
  }

  get first() { return this.samples[0]; }
  get last() { return this.samples[this.samples.length - 1]; }
  get seconds() { return this.samples.length < 2 ? 0 : this.last.at - this.first.at; }

  // How much a counter has grown within the window.
  grown(name) {
    return this.samples.length < 2 ? 0 : (this.last.values[name] || 0) - (this.first.values[name] || 0);
  }

  // A second of it, over the newest `seconds`.
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

  // One rate for each pair of samples: what a small chart shows.
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

  quantile(q, bounds) {
    if (this.samples.length < 2) return null;
    const before = this.first.buckets;
    return quantile(q, this.last.buckets.map((count, i) => count - (before[i] || 0)), bounds);
  }
}

// As Prometheus reckons: within its bucket a value is where its rank is. {seconds, above}: `above` if it lies beyond the last bound.
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

// What a route has counted, as flat numbers. A request whose client has gone is nobody's failure.
function routeValues(route) {
  const sent = route.responses || {};
  const failed = (sent["5xx"] || 0) + (sent.cut || 0);
  const gone = sent.client_gone || 0;
  const requests = route.requests || 0;
  return {requests, judged: requests - gone, good: requests - gone - failed, retries: route.retries || 0,
          recovered: route.recovered || 0, refused: sum(route.refused)};
}

const PASSING = new Set(["2xx", "3xx", "4xx"]);

function upstreamValues(upstream) {
  const attempts = sum(upstream.attempts);
  const passed = Object.entries(upstream.attempts || {}).filter(([outcome]) => PASSING.has(outcome));
  return {attempts, failed: attempts - passed.reduce((total, [, count]) => total + count, 0)};
}
