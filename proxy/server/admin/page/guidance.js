// Guidance: links to the parts of the page, the first request through a new proxy, and how to retry HTTPS.

// Returns the address by which a client on this machine reaches a listener.
function dialled(bound) {
  return bound.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:");
}

// Returns the addresses of the listeners of one mode.
function boundAs(status, mode) {
  return status.listeners.filter((listener) => listener.startsWith(mode + " ")).map((listener) => listener.slice(mode.length + 1));
}

// Quotes a word for a shell if needed; brackets are patterns there.
function shellWord(text) { return /^[\w.:/@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`; }

function fileOption(status) { return status.config.file ? ` -c ${shellWord(status.config.file)}` : ""; }

function commandLine(text) { return element("pre", {class: "command"}, element("code", {}, text)); }

// Returns the number of ended tunnels, or of opened ones if that is higher.
function tunnelsOf(status) {
  return Math.max(status.totals.tunnels || 0, (status.unread || []).reduce((all, host) => all + host.tunnels, 0));
}

// Replaces the content of `node`, unless it stays the same.
function fill(node, ...parts) {
  const [before, after] = [node.childNodes, element("div", {}, ...parts).childNodes];
  const isSame = before.length === after.length && [...before].every((child, i) => child.isEqualNode(after[i]));
  if (!isSame) node.replaceChildren(...after);
}

const JUMPS = {routes: "Routes", stories: "Retried and refused", upstreams: "Upstreams", tunnels: "Tunnels"};

function drawJumps(numbers) {
  for (const [name, number] of Object.entries(numbers)) say(byId(`jump-${name}`), `${JUMPS[name]}\u00a0${count(number)}`);
}

// Returns one command for each listener that accepts requests.
function waysIn(status) {
  const forward = boundAs(status, "forward").map((at) => `curl -x ${shellWord("http://" + dialled(at))} http://example.com/`);
  const gateway = boundAs(status, "gateway").map((at) => `curl ${shellWord("http://" + dialled(at) + "/")}`);
  const socks = boundAs(status, "socks").map((at) => `curl --socks5-hostname ${shellWord(dialled(at))} http://example.com/`);
  const redirected = boundAs(status, "transparent").length > 0 ? [`reprise redirect --print nft${fileOption(status)}`] : [];
  return [...forward, ...gateway, ...socks, ...redirected];
}

function drawFirstSteps(status) {
  const card = byId("first-steps");
  card.hidden = status.totals.requests > 0 || tunnelsOf(status) > 0 || status.totals.rejected > 0;
  if (card.hidden) return;
  const [forward] = boundAs(status, "forward");
  const use = forward
      ? [element("p", {}, "For an application that reads proxy variables:"), commandLine(`export http_proxy=${shellWord("http://" + dialled(forward))}`),
         element("p", {}, "To see a retry, start an upstream that fails twice, and send a request to it through the proxy:"),
         commandLine("reprise demo --bind 127.0.0.1:3190 &\n" + `curl -i --noproxy "" -x ${shellWord("http://" + dialled(forward))} "http://127.0.0.1:3190/flaky?id=1"`)]
      : [];
  fill(byId("first-steps-text"), element("p", {}, "This proxy has not received a request yet. Send the first one:"),
       ...waysIn(status).map(commandLine), ...use);
}

function unreadText(host) {
  const tunnels = `HTTPS to ${host.name} could not be read: ${count(host.tunnels)} tunnel${host.tunnels === 1 ? "" : "s"}`;
  if (host.name === "other") return tunnels;
  return `${tunnels}. To retry this traffic, use ${host.intercept ? `--intercept ${host.intercept}, or ` : ""}http:// and tls: originate`;
}

// Returns the three ways to retry HTTPS that README describes, for the host with the most tunnels.
function waysToRead(status) {
  const [host] = status.unread.filter((each) => each.name !== "other");
  const authority = host ? host.name.replace(/:443$/, "") : "api.example.com";
  const name = authority.replace(/:\d+$/, "");
  const ways = [
    [`A gateway: set the application's base URL to http://127.0.0.1:3180; reprise speaks TLS to ${authority}.`,
     `reprise run --gateway ${shellWord("3180=https://" + authority)}`],
    ["Origination: the application uses http:// through the proxy, and a route of the configuration changes it to https://.",
     `routes: [{name: api, match: {host: "${name}"}, tls: originate}]`]];
  if (!host || host.intercept) {
    ways.push(["Interception: the application uses https:// as before and trusts a local certificate authority. For one command:",
               `reprise exec --intercept ${shellWord(host ? host.intercept : name)} -- COMMAND`]);
  }
  return element("ol", {class: "ways"}, ...ways.map(([text, command]) => element("li", {}, text, commandLine(command))));
}

function drawTunnels(status) {
  const unread = status.unread || [];
  const all = tunnelsOf(status);
  say(byId("tunnels"), `Tunnels that ended: ${count(status.totals.tunnels || 0)}. They are not counted as requests.`);
  byId("tunnels").hidden = all === 0;
  byId("tunnels-none").hidden = all > 0;
  const list = byId("unread");
  list.hidden = unread.length === 0;
  while (list.children.length > unread.length) list.lastChild.remove();
  unread.forEach((host, i) => {
    if (!list.children[i]) list.append(element("li", {}));
    say(list.children[i], unreadText(host));
  });
  const isAll = all > 0 && status.totals.requests === 0;
  byId("tunnels-only").hidden = !isAll;
  const ways = byId("tunnels-ways");
  if (isAll && ways.hidden) ways.open = true;
  ways.hidden = unread.length === 0 && !isAll;
  if (!ways.hidden) fill(byId("tunnels-ways-text"), waysToRead({unread}));
}
