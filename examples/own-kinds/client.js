import { createRuntime } from 'escapement';
import { websocketTransport } from 'escapement/transports';

// node client.js <from> <to> <url of a node> …
const [from, to, ...peers] = process.argv.slice(2);
const secret = process.env.SHOP_SECRET;

// No kinds, no store: it hosts nothing, and speaks to what others host.
const node = `client-${process.pid}`;
const transport = websocketTransport({ node, peers, ...(secret && { secret }) });
const runtime = await createRuntime({ node, transport });

for (let number = Number(from); number <= Number(to); number += 1) {
  const order = `order/${number}@shop`;
  // Both may be repeated: of spawns of one address, and of sends with one id, one counts.
  await repeated(() => runtime.spawn(order, { input: { count: 1 }, ifAbsent: true }));
  await repeated(async () => {
    const { value } = await runtime.actor(order).fetchSnapshot();
    if (value === 'reserving') throw new Error('The warehouse has not answered yet.');
  });
  await repeated(() => runtime.actor(order).send({ type: 'order.paid' }, { id: `pay-${number}` }));
  console.log(`order ${number} is paid`);
}
await runtime.stop();

/** A node that is killed may have taken what it was sent, or not: nobody knows, so it is asked again. */
async function repeated(ask) {
  for (;;) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}
