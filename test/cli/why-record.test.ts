/**
 * `why`, `record` and `inspect` at a node as a process, at what it has recorded, and at the directory that it leaves
 * when it is killed.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLmdbData } from '../../cli/loaders/lmdb-data.ts';
import { escapement as called, type Ended, ended, start } from './command-line.ts';
import { OwnProject } from './own-project.ts';
import { ANYWHERE, Cluster, until } from './started-cluster.ts';
import type { StartedNode } from './started-node.ts';

const escapement = (args: readonly string[], env: Record<string, string> = {}) =>
  called(args, { env, openStoredData: openLmdbData });

const cluster = new Cluster();
let project: OwnProject;
beforeAll(async () => {
  project = await OwnProject.create();
  project.write('machines.mjs', MACHINES);
});
afterAll(() => project.remove());

/** An order that waits an hour for its money, or not at all. */
const MACHINES = `
import { assign, setup } from 'xstate';
export const order = setup({ delays: { payment: ({ context }) => context.patienceMs } }).createMachine({
  context: ({ input }) => ({ patienceMs: input.patienceMs, items: 0, cardToken: 'sk-1' }),
  initial: 'open',
  states: {
    open: {
      on: { 'order.add': { actions: assign({ items: ({ context }) => context.items + 1 }) }, 'order.pay': 'paid' },
      after: { payment: 'expired' },
    },
    paid: { type: 'final' },
    expired: { type: 'final' },
  },
});
`;

async function startShop(data: string, more: readonly string[] = []): Promise<StartedNode> {
  const args = ['node', '--kinds', 'machines.mjs', '--node', 'shop', ...ANYWHERE];
  return cluster.serving([...args, '--data', data, ...more], { cwd: project.folder });
}

const spawnOrder = (node: StartedNode, key: string, patienceMs: number) =>
  node.ask('POST', '/v1/actors', { address: `order/${key}`, input: { patienceMs } });

const add = (node: StartedNode, key: string) =>
  node.ask('POST', `/v1/actors/order/${key}`, { type: 'order.add' });

const causeOf = ({ out }: Ended) => (JSON.parse(out) as { cause: string }).cause;

test('say the same of a living node, of its recording and of its directory after kill -9', async () => {
  const data = cluster.freshData();
  const node = await startShop(data);
  const at = ['--url', node.url];
  await spawnOrder(node, 'quick', 1);
  await spawnOrder(node, 'slow', 3_600_000);
  await until(
    () => node.ask('GET', '/v1/actors/order/quick'),
    ({ body }) => body.snapshot?.status === 'done',
  );
  const living = await escapement(['why', 'order/slow', ...at]);
  expect(living).toMatchObject({ code: 0, err: '' });
  expect(living.out).toMatch(/order\.pay/);
  expect(living.out).toMatch(/payment/);
  expect(causeOf(await escapement(['why', 'order/slow@shop', '--json', ...at]))).toBe('alive');
  const quick = await escapement(['why', 'order/quick', '--json', ...at]);
  expect(causeOf(quick)).toBe('deadline');

  const file = join(cluster.folder, 'run.jsonl');
  const recording = escapement(['record', '-o', file, '--for', '1s', '--json', ...at]);
  await until(
    async () => {
      await add(node, 'slow');
      return recordedTurns(node);
    },
    (turns) => turns > 0,
  );
  const recorded = await recording;
  expect(recorded).toMatchObject({ code: 0, err: '' });
  const { lines } = JSON.parse(recorded.out) as { lines: number };
  const text = readFileSync(file, 'utf8');
  expect(text.trimEnd().split('\n')).toHaveLength(lines);
  expect(text).toContain('order.add');
  expect(text).not.toContain('sk-1');
  await node.kill();

  for (const [from, name] of [
    [data, 'order/slow'],
    [file, 'order/slow@shop'],
  ] as const)
    expect(causeOf(await escapement(['why', name, '--from', from, '--json']))).toBe('alive');
  const dead = await escapement(['why', 'order/quick', '--from', data, '--json']);
  expect(JSON.parse(dead.out).verdict).toBe(JSON.parse(quick.out).verdict);
  const none = await escapement(['why', 'order/none', '--from', data]);
  expect(none).toMatchObject({ code: 1, out: '' });

  const page = join(cluster.folder, 'dead.html');
  // The page is built with the program, and not beside the sources.
  const shown = await ended(start(['inspect', data, '--html', page]));
  expect(shown).toMatchObject({ code: 0 });
  expect(readFileSync(page, 'utf8')).toContain('order/quick@shop');
  const trace = join(cluster.folder, 'run.trace.json');
  const converted = await escapement(['inspect', file, '--as', 'perfetto', '-o', trace]);
  expect(converted).toMatchObject({ code: 0 });
  expect(JSON.parse(readFileSync(trace, 'utf8')).traceEvents.length).toBeGreaterThan(0);
});

test('a node with --record goes on with its recording after kill -9, and its directory has it', async () => {
  const data = cluster.freshData();
  const first = await startShop(data, ['--record']);
  await spawnOrder(first, 'kept', 3_600_000);
  await add(first, 'kept');
  // What is told of by the next but one write is in the file.
  const folder = join(data, 'recordings', 'node-shop');
  await until(
    async () =>
      readdirSync(folder)
        .map((file) => readFileSync(join(folder, file), 'utf8'))
        .join(''),
    (text) => text.includes('"turn":2'),
  );
  await first.kill();
  const second = await startShop(data, ['--record']);
  await add(second, 'kept');
  expect(await recordedTurns(second)).toBe(3);
  await second.kill();

  const out = join(cluster.folder, 'kept.jsonl');
  const converted = await escapement(['inspect', data, '--as', 'jsonl', '-o', out]);
  expect(converted).toMatchObject({ code: 0 });
  const text = readFileSync(out, 'utf8');
  expect(text.match(/"type":"turn"/g)).toHaveLength(3);
  expect(text).toContain('"change":"crashed"');
  expect(text).toContain('"patienceMs":3600000');
  expect(text).not.toContain('sk-1');
  // The kind is the user's own: its chart is known because it was recorded.
  expect(text).toContain('"type":"definition"');
  const why = await escapement(['why', 'order/kept', '--from', data, '--json']);
  expect(causeOf(why)).toBe('alive');
});

/** Turns that a node has recorded until now; 0 while it records nothing. */
async function recordedTurns(node: StartedNode): Promise<number> {
  const response = await fetch(`${node.url}/inspector/api/recording`);
  const text = await response.text();
  return response.ok ? text.split('"type":"turn"').length - 1 : 0;
}

test('refuse what is none, and a node that lets nobody record', async () => {
  const broken = join(cluster.folder, 'broken.jsonl');
  writeFileSync(broken, '{"type":"recording","version":99}\n');
  expect(await escapement(['why', 'order/1', '--from', broken])).toMatchObject({ code: 65 });
  expect(await escapement(['why', 'order/1', '--from', '/nowhere'])).toMatchObject({ code: 65 });
  expect(await escapement(['why', 'order/1', '--from', project.folder])).toMatchObject({
    code: 65,
  });

  const token = 'a-token-that-only-looks';
  const tokenFile = project.write('reader.token', token);
  const clients = JSON.stringify([{ name: 'prometheus', role: 'reader', tokenFile }]);
  const config = project.write('node.yml', `clients: ${clients}\n`);
  const node = await startShop('memory', ['--config', config]);
  const out = join(cluster.folder, 'never.jsonl');
  const args = ['record', '-o', out, '--for', '1s', '--url', node.url];
  const refused = await escapement(args, { ESCAPEMENT_TOKEN: token });
  expect(refused).toMatchObject({ code: 77, out: '' });
  expect(refused.err).toContain('role operator');
});
