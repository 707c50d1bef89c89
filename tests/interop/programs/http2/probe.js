// An HTTP/2 client and server of Node, with the arguments and variables of probe.go.
const fs = require("fs");
const http = require("http");
const http2 = require("http2");
const tls = require("tls");

const trusted = process.env.CA && fs.readFileSync(process.env.CA);

function tunnel(url) {
  const [host, port] = process.env.PROXY.split(":");
  return new Promise((resolve, reject) => {
    const request = http.request({host, port, method: "CONNECT", path: url.host, headers: {host: url.host}});
    request.on("connect", (response, socket) => response.statusCode === 200 ? resolve(socket) : reject(response.statusCode));
    request.on("error", reject);
    request.end();
  });
}

async function connect(url) {
  const options = {ca: trusted};
  if (process.env.PROXY) {
    const socket = await tunnel(url);
    const secured = () => tls.connect({socket, servername: url.hostname, ca: trusted, ALPNProtocols: ["h2"]});
    options.createConnection = () => url.protocol === "https:" ? secured() : socket;
  }
  return http2.connect(url.origin, options);
}

function ask(session, what, path, content) {
  return new Promise((resolve, reject) => {
    const stream = session.request({":path": path, ":method": content ? "POST" : "GET"}, {waitForTrailers: what === "TRAILERS", endStream: !content});
    const parts = [];
    let trailers = {};
    stream.on("wantTrailers", () => stream.sendTrailers({"x-sum": "7"}));
    stream.on("response", headers => headers[":status"] === 200 || reject(headers[":status"]));
    stream.on("trailers", headers => trailers = headers);
    stream.on("data", part => parts.push(part));
    stream.on("end", () => resolve(what === "TRAILERS" ? Buffer.from(`x-trailer: ${trailers["x-trailer"]}`) : Buffer.concat(parts)));
    stream.on("error", reject);
    if (content) stream.end(content);
  });
}

async function askAll(what, target, file) {
  const url = new URL(target);
  const session = await connect(url);
  const content = file && fs.readFileSync(file);
  const bodies = await Promise.all(Array.from({length: what === "MANY" ? 100 : 1}, () => ask(session, what, url.pathname, content)));
  session.close();
  process.stdout.write(Buffer.concat(bodies));
}

const seen = new Set();

function respond(stream, headers) {
  const parts = [];
  let sum;
  stream.on("trailers", trailers => sum = trailers["x-sum"]);
  stream.on("data", part => parts.push(part));
  stream.on("wantTrailers", () => stream.sendTrailers({"x-trailer": sum || ""}));
  stream.on("error", () => {});
  stream.on("end", () => {
    const path = headers[":path"];
    const fails = path.startsWith("/flaky") && !seen.has(path);
    seen.add(path);
    stream.respond({":status": fails ? 503 : 200}, {waitForTrailers: true});
    stream.end(headers[":method"] === "GET" ? "hello\n" : Buffer.concat(parts));
  });
}

function serve(certificate, key) {
  const secrets = {cert: fs.readFileSync(certificate), key: fs.readFileSync(key)};
  const servers = [http2.createServer(), http2.createSecureServer(secrets)];
  for (const server of servers) server.on("stream", respond).listen(0, "127.0.0.1");
  let waiting = servers.length;
  const ready = () => --waiting || console.log(servers.map(server => server.address().port).join(" "));
  for (const server of servers) server.on("listening", ready);
  process.stdin.on("end", () => process.exit(0)).resume();
}

const [mode, ...given] = process.argv.slice(2);
if (mode === "serve") serve(...given);
else askAll(...given).catch(error => {
  console.error(error);
  process.exit(1);
});
