// Makes gRPC calls of all kinds with @grpc/grpc-js: node with_grpc_js.js TARGET plain|tls CHECKS [SECONDS]. See with_grpcio.py.
const assert = require('assert');
const crypto = require('crypto');
const grpc = require('@grpc/grpc-js');

const [target, security, checks, seconds] = process.argv.slice(2);
const large = 4 * 1024 * 1024;
const same = (data) => data;
const client = new grpc.Client(target, security === 'tls' ? grpc.credentials.createSsl() : grpc.credentials.createInsecure(), {
  'grpc.max_receive_message_length': -1, 'grpc.keepalive_time_ms': 10000, 'grpc.keepalive_permit_without_calls': 1, 'grpc.enable_retries': 0});
const path = (name) => `/probe.Probe/${name}`;

function metadataOf(fields) {
  const metadata = new grpc.Metadata();
  for (const [name, value] of Object.entries(fields)) metadata.set(name, value);
  return metadata;
}

// Sends the messages. Resolves to the messages and the metadata of the response.
function ask(name, messages, fields = {}, options = {}) {
  return new Promise((resolve, reject) => {
    const call = client.makeBidiStreamRequest(path(name), same, same, metadataOf(fields), options);
    const got = {messages: []};
    call.on('metadata', (metadata) => { got.head = metadata; });
    call.on('data', (data) => { got.messages.push(data); if (options.onData) options.onData(call); });
    call.on('error', reject);
    call.on('status', (status) => { got.end = status.metadata; if (status.code === 0) resolve(got); });
    for (const message of messages) call.write(Buffer.from(message));
    call.end();
  });
}

async function calls() {
  const three = ['one', 'two', 'three'];
  for (let number = 0; number < 5; number++) {
    for (const [name, sent, expected] of [['Unary', ['one'], ['one']], ['ClientStream', three, ['onetwothree']],
                                          ['ServerStream', ['one'], ['one', 'one', 'one']], ['Bidi', three, three]]) {
      const got = await ask(name, sent, {'x-call': `${name}-${number}-${process.pid}`, 'x-fail': '2'});
      assert.deepStrictEqual(got.messages.map(String), expected);
    }
  }
}

const cancelled = async () => Number(String((await ask('Cancelled', [''])).messages[0]));

async function rest() {
  const binary = Buffer.from([...Array(256).keys()]);
  const got = await ask('Unary', ['one'], {'x-probe-bin': binary});
  assert.deepStrictEqual([got.head.get('x-probe-bin')[0], got.end.get('x-trailer-bin')[0]], [binary, binary]);
  const data = crypto.randomBytes(large);
  assert((await ask('Unary', [data])).messages[0].equals(data));
  const before = await cancelled();
  await assert.rejects(ask('Slow', ['x'], {}, {deadline: Date.now() + 500}), {code: grpc.status.DEADLINE_EXCEEDED});
  await assert.rejects(ask('Slow', ['x'], {}, {onData: (call) => call.cancel()}), {code: grpc.status.CANCELLED});
  while (await cancelled() < before + 2);
}

async function pings() {
  let begun;
  const slow = ask('Slow', ['x'], {}, {onData: (call) => { begun = call; }});
  slow.catch(() => {});
  await new Promise((resolve) => { setTimeout(resolve, 1000 * seconds); });
  assert.strictEqual(String((await ask('Unary', ['one'])).messages[0]), 'one');
  begun.cancel();
  await assert.rejects(slow, {code: grpc.status.CANCELLED});
}

(async () => {
  for (const name of checks.split(',')) await {calls, rest, pings}[name]();
  console.log('ok');
  client.close();
})().catch((error) => { console.error(error); process.exit(1); });
