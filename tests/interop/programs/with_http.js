// METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above.
const fs = require('fs');
const [method, url, file] = process.argv.slice(2);
const client = require(url.startsWith('https') ? 'https' : 'http');
const body = file ? fs.readFileSync(file) : undefined;
client.request(url, {method, headers: body ? {'Content-Length': body.length} : {}}, answer => {
  if (answer.statusCode >= 400) {
    console.error(answer.statusCode);
    process.exit(1);
  }
  answer.pipe(process.stdout);
}).end(body);
