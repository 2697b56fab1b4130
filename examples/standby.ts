/**
 * A shop on disk with two processes: one hosts the orders, the other stands by. The first is
 * killed in the middle of things, and the second goes on with what the first has acknowledged.
 *
 * Shows: `lmdbStore` and `directoryLease` over one directory, a state that is on disk when
 * `send` resolves, a deadline that keeps its moment, and a takeover without any waiting.
 *
 *   npm start, or npx tsx examples/standby.ts
 */

import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setup, waitFor } from 'xstate';
import { createRuntime, directoryLease, lmdbStore } from '../index.ts';

export const orderMachine = setup({
  types: { events: {} as { type: 'order.paid' } },
  delays: { paymentLimit: 2_000 },
}).createMachine({
  id: 'order',
  initial: 'awaitingPayment',
  states: {
    awaitingPayment: { on: { 'order.paid': 'paid' }, after: { paymentLimit: 'expired' } },
    paid: {},
    expired: {},
  },
});

/** One of the two processes. It hosts the place as soon as nobody else does. */
async function serve(node: string, directory: string): Promise<void> {
  const say = (line: string) => process.send?.(line);
  const runtime = await createRuntime({
    node,
    place: 'shop', // the same in both: they stand in for each other
    store: lmdbStore(directory),
    lease: directoryLease(directory, { node }),
    kinds: { order: orderMachine },
  });
  process.on('disconnect', () => void runtime.stop());

  const show = async () => {
    say('hosts the shop');
    for (const { address, state, dueAt } of runtime.query({ kind: 'order' }).actors)
      say(`${address} is ${state}${dueAt === null ? '' : ` until ${timeOf(dueAt)}`}`);
    const [waiting] = runtime.query({ state: 'awaitingPayment' }).actors;
    if (waiting === undefined) return;
    const order = runtime.actor(waiting.address as 'order/2');
    await waitFor(order, (snapshot) => snapshot.matches('expired'));
    say(`${waiting.address} is expired`);
  };
  runtime.inspect((record) => {
    if (record.type === 'lease' && record.change === 'acquired') void show();
  });
  if (runtime.isHosting) void show();
  else say('stands by');

  process.on('message', async () => {
    const [paid] = await Promise.all([runtime.spawn('order/1'), runtime.spawn('order/2')]);
    await paid.send({ type: 'order.paid' }); // resolves once it is on disk
    const { dueAt } = runtime.query({ state: 'awaitingPayment' }).actors[0] ?? {};
    say(`order/1 is paid, order/2 has until ${timeOf(dueAt ?? 0)}`);
  });
}

/** Starts both, has orders placed, kills the first, and lets the second go on. */
export async function main(print: (line: string) => void = console.log): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'escapement-shop-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  process.once('exit', remove);
  const first = new ShopProcess('shop-1', directory, print);
  await first.says('hosts the shop');
  const second = new ShopProcess('shop-2', directory, print);
  try {
    await second.says('stands by');
    first.child.send('place orders');
    await first.says('order/1 is paid');
    print('shop-1 is killed');
    first.child.kill('SIGKILL');
    await second.says('is expired');
  } finally {
    await Promise.all([first.end(), second.end()]);
    remove();
    process.off('exit', remove);
  }
}

class ShopProcess {
  readonly child: ChildProcess;
  readonly #ended: Promise<unknown>;

  constructor(node: string, directory: string, print: (line: string) => void) {
    const program = import.meta.filename;
    this.child = fork(program, [node, directory], { execArgv: ['--import', 'tsx'] });
    this.child.on('message', (line) => print(`${node}: ${line}`));
    this.#ended = once(this.child, 'exit');
  }

  /** Resolves when it says something that has this in it. */
  async says(part: string): Promise<void> {
    for await (const [line] of on(this.child, 'message', { close: ['exit'] }))
      if (String(line).includes(part)) return;
    throw new Error(`The process ended before it said "${part}".`);
  }

  /** Without its parent it stops, in order. */
  async end(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    await this.#ended;
  }
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

if (process.argv[1] === import.meta.filename) {
  const [node, directory] = process.argv.slice(2);
  if (node === undefined || directory === undefined) {
    // Ctrl-C ends both processes by itself; this one leaves in order.
    process.once('SIGINT', () => process.exit(130));
    console.log('\nNow on disk, in real time: two processes over one directory.\n');
    await main();
  } else await serve(node, directory);
}
