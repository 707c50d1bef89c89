// METHOD URL: the echo of a word over a WebSocket to standard output. The library knows no proxy.
const WebSocket = require('ws');
const socket = new WebSocket(process.argv[3]);
socket.on('open', () => socket.send('hello'));
socket.on('message', word => {
  process.stdout.write(word.toString());
  socket.close();
});
