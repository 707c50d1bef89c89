// Makes elements, and formats numbers as text. Text from traffic only becomes text nodes.

// Makes an element: element("p", {class: "soft"}, "text", child). Omits null attributes; `on...` are listeners.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function byId(id) { return document.getElementById(id); }

// Changes only what differs: a screen reader announces each change, and a change removes the selection.
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function mark(node, name) {
  if (node.className !== name) node.className = name;
}

const NONE = "\u2013";

function count(value) { return value.toLocaleString("en-US"); }

function rateText(value) {
  if (value === null || value === undefined) return NONE;
  if (value === 0) return "0";
  if (value < 0.1) return "<0.1";
  return value < 100 ? value.toFixed(1) : count(Math.round(value));
}

function shareText(part, whole) {
  if (!whole || whole <= 0) return NONE;
  const share = Math.max(0, Math.min(1, part / whole)) * 100;
  if (share === 100 || share === 0) return share + "\u00a0%";
  // Never rounds an incomplete share to 100 %.
  return (share > 99.9 ? "99.9" : share < 0.1 ? "<0.1" : share.toFixed(1)) + "\u00a0%";
}

function spanText(milliseconds) {
  if (milliseconds === null || milliseconds === undefined) return NONE;
  if (milliseconds < 1) return milliseconds === 0 ? "0\u00a0ms" : "<1\u00a0ms";
  if (milliseconds < 10) return milliseconds.toFixed(1) + "\u00a0ms";
  if (milliseconds < 1000) return Math.round(milliseconds) + "\u00a0ms";
  if (milliseconds < 60000) return (milliseconds / 1000).toFixed(milliseconds < 10000 ? 2 : 1) + "\u00a0s";
  return Math.floor(milliseconds / 60000) + "\u00a0min " + Math.round(milliseconds % 60000 / 1000) + "\u00a0s";
}

function quantileText(found) {
  if (!found) return NONE;
  return (found.above ? ">" : "") + spanText(found.seconds * 1000);
}

function uptimeText(seconds) {
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return days + " d " + hours + " h";
  if (hours > 0) return hours + " h " + minutes + " min";
  return minutes > 0 ? minutes + " min " + seconds % 60 + " s" : seconds + " s";
}

function bytesText(bytes) {
  if (bytes < 1024) return bytes + " B";
  return bytes < 1048576 ? (bytes / 1024).toFixed(1) + " KiB" : (bytes / 1048576).toFixed(1) + " MiB";
}

function clockText(when) {
  return when.toLocaleTimeString("en-GB", {hour12: false});
}

function words(name) { return String(name).replaceAll("_", " "); }

// Makes `wanted` the children of `parent`, in that order. Does not move a child that is in its place, so that it keeps the focus.
function arrange(parent, wanted) {
  const kept = new Set(wanted);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  wanted.forEach((child, i) => {
    if (parent.children[i] !== child) parent.insertBefore(child, parent.children[i] || null);
  });
}
