/**
 * The guide about own kinds, as it stands there: its files, its lines, its processes. They are killed with
 * SIGKILL one after the other and all at once while a client has orders placed, and nothing is lost.
 */

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { blocksOf, killGroup, ShellFolder } from '../package/shell-snippets.ts';
import { readProjectFile } from '../project-files.ts';
import { until } from './started-cluster.ts';

const blocks = blocksOf(readProjectFile('docs/own-kinds.md'));
const ORDERS = 40;
const NODES = ['warehouse', 'shop-1', 'shop-2'] as const;
const SHOPS = [7401, 7402] as const;
type NodeName = (typeof NODES)[number];

let folder: ShellFolder | undefined;
afterEach(() => {
  folder?.remove();
  folder = undefined;
});

/** The lines that start a node: by the command line, and by a program of one's own. */
const linesOf = (name: NodeName) =>
  blocks.filter(({ title }) => title === `sh process ${name}`).map(({ text }) => text);

class Walk {
  readonly #folder: ShellFolder;
  readonly #lines: Readonly<Record<NodeName, string>>;
  readonly #processes = new Map<NodeName, ChildProcess>();

  constructor(folder: ShellFolder, lines: Readonly<Record<NodeName, string>>) {
    this.#folder = folder;
    this.#lines = lines;
  }

  start(name: NodeName): void {
    const child = this.#folder.start(`exec ${this.#lines[name]}`);
    child.stdout?.resume();
    child.stderr?.resume();
    this.#processes.set(name, child);
  }

  async kill(name: NodeName): Promise<void> {
    const child = this.#processes.get(name) as ChildProcess;
    expect([child.exitCode, child.signalCode], name).toEqual([null, null]);
    const ended = once(child, 'exit');
    killGroup(child.pid as number);
    await ended;
  }

  /** In order. */
  async stop(name: NodeName): Promise<unknown> {
    const child = this.#processes.get(name) as ChildProcess;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    return (await ended)[0];
  }

  /** Whatever stands between is asked again: nobody is there while nobody is there. */
  async ask(
    port: number,
    path: string,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const url = this.#folder.here(`http://127.0.0.1:${port}${path}`);
    try {
      const response = await fetch(url);
      return { status: response.status, text: await response.text() };
    } catch {
      return { status: 0, text: '' };
    }
  }

  async hosts(port: number): Promise<boolean> {
    const { text } = await this.ask(port, '/readyz');
    return text.startsWith('{') && JSON.parse(text).hosting === true;
  }

  /** The name of the shop's host. */
  async host(): Promise<'shop-1' | 'shop-2'> {
    const hosting = await until(
      () => Promise.all(SHOPS.map((port) => this.hosts(port))),
      (found) => found.filter(Boolean).length === 1,
    );
    return hosting[0] ? 'shop-1' : 'shop-2';
  }
}

describe('the files of the guide', () => {
  test.each(['machines.js', 'node.js', 'client.js'])('%s is the example', (name) => {
    const shown = blocks.filter(({ title }) => title === `js file ${name}`);
    expect(shown.map(({ text }) => text)).toEqual([readProjectFile(`examples/own-kinds/${name}`)]);
  });
});

test.each([
  ['escapement start node', 0],
  ['a program of your own', 1],
] as const)('nothing is lost by nodes of %s, no matter who is killed', async (_, section) => {
  folder = await ShellFolder.create(blocks);
  const lines = Object.fromEntries(NODES.map((name) => [name, linesOf(name)[section]]));
  expect(Object.values(lines)).not.toContain(undefined);
  const walk = new Walk(folder, lines as Record<NodeName, string>);
  for (const name of NODES) walk.start(name);
  await walk.host();
  await until(
    () => walk.hosts(7400),
    (isThere) => isThere,
  );
  const commands = blocks.find(({ text }) => text.startsWith('npx escapement spawn stock'));
  const [spawnStock = ''] = commands?.text.split('\n') ?? [];
  expect(await folder.run(spawnStock)).toBe('stock/apples@warehouse is there\n');

  const clientLine = blocks.find(({ text }) => text.startsWith('node client.js'))?.text ?? '';
  const placed = folder.run(clientLine.replace(' 1 10 ', ` 1 ${ORDERS} `));
  let hasEnded = false;
  placed
    .finally(() => {
      hasEnded = true;
    })
    // Anybody who waits for it hears of it.
    .catch(() => {});
  /** Resolves when this many orders are there, or the client has ended. */
  const progressed = (count: number) =>
    until(
      () => Promise.all(SHOPS.map((port) => walk.ask(port, `/v1/explain/order/${count}@shop`))),
      (answers) => hasEnded || answers.some(({ status }) => status === 200),
    );

  await progressed(5);
  // The host of the shop: the standby takes over, and the killed one stands by for it.
  const first = await walk.host();
  const second = first === 'shop-1' ? 'shop-2' : 'shop-1';
  await walk.kill(first);
  expect(await walk.host()).toBe(second);
  walk.start(first);
  await progressed(12);
  await walk.kill('warehouse');
  walk.start('warehouse');
  await progressed(20);
  await walk.kill(second);
  expect(await walk.host()).toBe(first);
  walk.start(second);
  await progressed(28);
  await Promise.all(NODES.map((name) => walk.kill(name)));
  for (const name of NODES) walk.start(name);

  expect(await placed).toBe(
    Array.from({ length: ORDERS }, (_order, index) => `order ${index + 1} is paid\n`).join(''),
  );
  const port = (await walk.host()) === 'shop-1' ? 7401 : 7402;
  const { text } = await walk.ask(port, '/v1/actors?kind=order&state=paid&limit=500');
  expect(JSON.parse(text).actors).toHaveLength(ORDERS);
  const stock = await walk.ask(7400, '/v1/actors/stock/apples');
  expect(JSON.parse(stock.text).snapshot.context).toEqual({ left: 1_000 - ORDERS });
  const undelivered = await walk.ask(port, '/v1/undelivered');
  expect(JSON.parse(undelivered.text).undelivered).toEqual([]);
  // The standby tells the same, as soon as it knows the host again.
  for (const either of SHOPS)
    await until(
      () => walk.ask(either, section === 1 ? '/orders/7' : '/v1/actors/order/7'),
      ({ status, text: said }) => status === 200 && /is paid\n$|"value":"paid"/.test(said),
    );
  const standby = port === 7401 ? 7402 : 7401;
  expect((await walk.ask(standby, '/v1/actors')).status).toBe(503);
  const send = `npx escapement spawn order/last --input '{"count": 1}' --url http://127.0.0.1:${standby}`;
  expect(await folder.run(send)).toBe('order/last@shop is there\n');
  for (const name of NODES) expect(await walk.stop(name), name).toBe(0);
});
