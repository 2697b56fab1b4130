import { createServer } from 'node:http';
import { createRuntime, directoryLease, lmdbStore } from 'escapement';
import { createHttpHandler } from 'escapement/http';
import { websocketTransport } from 'escapement/transports';
import { kinds } from './machines.js';

// node node.js <node> <place> <port> [<url of a peer> …]
const [node, place, port, ...peers] = process.argv.slice(2);
const data = `./data/${place}`; // the same for all nodes of a place
const secret = process.env.SHOP_SECRET; // the same for all nodes: at least 32 bytes

const server = createServer(); // one port, for the sockets of peers and for the web
const runtime = await createRuntime({
  node,
  place,
  kinds,
  transport: websocketTransport({ node, place, server, peers, ...(secret && { secret }) }),
  store: lmdbStore(data),
  lease: directoryLease(data, { node }),
  onHosting: (fence) => console.log(`${node} hosts the ${place} (fence ${fence})`),
});
if (!runtime.isHosting) console.log(`${node} stands by`);

const api = createHttpHandler({ program: { runtime } }); // the same as escapement start node has
server.on('request', (request, response) => {
  const [, key] = /^\/orders\/([\w-]+)$/.exec(request.url) ?? [];
  if (key === undefined) api(request, response);
  else void answer(key, response);
});
server.listen(Number(port), '127.0.0.1', () => console.log(`${node} listens`));

/** A page of your own. It says the same on every node: what is not here is fetched. */
async function answer(key, response) {
  try {
    const { value } = await runtime.actor(`order/${key}@shop`).fetchSnapshot();
    response.end(`order ${key} is ${value}\n`);
  } catch (error) {
    // Between two hosts there is none for a moment: the asker comes again.
    if (error.retryable) response.writeHead(503, { 'retry-after': '1' });
    else response.writeHead(error.code === 'ACTOR_UNKNOWN' ? 404 : 500);
    response.end(`${error.code}\n`);
  }
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, async () => {
    await api.close();
    server.close();
    server.closeIdleConnections();
    await runtime.stop(); // a standby takes over at once
  });
