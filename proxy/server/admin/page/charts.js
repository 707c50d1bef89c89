// Small charts: a line with an area for the last minute of one number.

const SVG = "http://www.w3.org/2000/svg";
const CHART = {width: 120, height: 28};

function svg(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Hidden from screen readers, because the number is also shown as text.
class Sparkline {
  constructor() {
    this.area = svg("path", {class: "area"});
    this.line = svg("path", {class: "line"});
    this.node = svg("svg", {class: "spark", viewBox: `0 0 ${CHART.width} ${CHART.height}`, preserveAspectRatio: "none",
                            "aria-hidden": "true", focusable: "false"});
    this.node.append(this.area, this.line);
  }

  // Draws the minute before `now`, or the part with data, from 0 to the highest value. `points`: {at, value}.
  draw(points, now) {
    const line = linePath(points.filter((point) => point.value !== null), now);
    this.line.setAttribute("d", line.path);
    this.area.setAttribute("d", line.path ? `${line.path}L${line.to} ${CHART.height}L${line.from} ${CHART.height}Z` : "");
  }
}

function linePath(points, now) {
  if (points.length < 2) return {path: ""};
  const span = Math.min(MINUTE, Math.max(10, now - points[0].at));
  const highest = Math.max(...points.map((point) => point.value), Number.MIN_VALUE);
  const x = (point) => (CHART.width * Math.max(0, 1 - (now - point.at) / span)).toFixed(1);
  const y = (point) => (CHART.height - 2 - (CHART.height - 4) * point.value / highest).toFixed(1);
  return {path: points.map((point, i) => (i === 0 ? "M" : "L") + x(point) + " " + y(point)).join(""),
          from: x(points[0]), to: x(points[points.length - 1])};
}
