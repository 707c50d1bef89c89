// METHOD URL [FILE]: the answer's body to standard output; 1 and the status where that is 400 or above.
const fs = require('fs');
const [method, url, file] = process.argv.slice(2);
fetch(url, {method, body: file ? fs.readFileSync(file) : undefined}).then(async answer => {
  if (answer.status >= 400) {
    console.error(answer.status);
    process.exit(1);
  }
  process.stdout.write(Buffer.from(await answer.arrayBuffer()));
});
