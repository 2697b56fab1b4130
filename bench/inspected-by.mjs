/**
 * A page's side of the inspector, in a process of its own so that its cost is not the node's: it opens the stream,
 * watches what it is told to, reads what comes, and says so once the first frame is there.
 *
 *   node bench/inspected-by.mjs PORT WATCH
 */

import { request } from 'node:http';

const [, , port = '', watch = '{}'] = process.argv;
const at = { host: '127.0.0.1', port };

request({ ...at, path: '/api/stream' }, (answer) => {
  let isOpened = false;
  answer.setEncoding('utf8').on('data', (text) => {
    const [, stream] = /"stream":"([^"]+)"/.exec(text) ?? [];
    if (isOpened || stream === undefined) return;
    isOpened = true;
    const headers = { 'content-type': 'application/json' };
    const post = request({ ...at, path: '/api/watch', method: 'POST', headers }, (told) => {
      told.resume().on('end', () => process.stdout.write('watching\n'));
    });
    post.end(JSON.stringify({ stream, ...JSON.parse(watch) }));
  });
  answer.on('close', () => process.exit());
}).end();
