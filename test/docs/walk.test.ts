/**
 * Walk of a message: every file that the drawing in ARCHITECTURE.md names runs when a message takes that path,
 * as V8 counts it. A file that the path does not touch any more, or that is not there, fails the drawing.
 */

import { existsSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { assign, fromPromise, sendTo, setup } from 'xstate';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import { hint, reply, to } from '../../runtime/machine.ts';
import type { PeerIdentity, Transport } from '../../runtime/ports/transport.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { ROOT, readProjectFile } from '../project-files.ts';

const LONG = 'x'.repeat(10_000);

const letters = setup({
  types: {
    context: {} as { taken: number },
    events: {} as
      | { type: 'letter.posted'; address: string }
      | { type: 'letter.told'; text: string }
      | { type: 'letter.hinted' }
      | { type: 'count.asked'; replyTo: string },
    emitted: {} as { type: 'letter.seen' },
  },
  actions: { print: () => {} },
  actors: { look: fromPromise(async () => 1) },
}).createMachine({
  context: { taken: 0 },
  initial: 'open',
  on: {
    'letter.posted': {
      actions: [
        sendTo(({ event }) => to(event.address), { type: 'letter.told', text: LONG }),
        sendTo(({ event }) => hint(event.address), { type: 'letter.hinted' }),
        'print',
      ],
    },
    'letter.told': { actions: assign({ taken: ({ context }) => context.taken + 1 }) },
    'letter.hinted': {},
    'count.asked': { actions: reply(({ context }) => context.taken) },
  },
  states: { open: { invoke: { src: 'look', onDone: 'read' } }, read: {} },
});

/** Files that the drawing names: `room/file`, and the list behind `delivery/:`. */
function drawnFiles(): string[] {
  const [, section = ''] = readProjectFile('ARCHITECTURE.md').split(
    '\n## The path of one message\n',
  );
  const [, drawing = ''] = section.split('```');
  const text = drawing.replaceAll(/[│▼]|\s+/g, ' ').replaceAll(/ +/g, ' ');
  const [, group = ''] = /\(delivery\/: ([^)]*)\)/.exec(text) ?? [];
  const listed = group.split(',').map((name) => `delivery/${name.trim()}`);
  const named = Array.from(text.matchAll(/(?:[a-z]+\/)+[a-z-]+/g), ([name]) => name);
  const files = [...listed, ...named].map((name) => name.replace(/^runtime\//, ''));
  return [...new Set(files)]
    .filter((name) => name.includes('/'))
    .map((name) => `runtime/${name}.ts`);
}

/** A transport on which peers count as proved, and whose frames are short: long messages travel in fragments. */
function proved(transport: Transport): Transport {
  const identity = (node: string): PeerIdentity => jobsPeer('node', node);
  return {
    start: (listener) =>
      transport.start({
        peerUp: (node) => listener.peerUp(node, identity(node)),
        peerDown: (node) => listener.peerDown(node),
        frameReceived: (node, frame) => listener.frameReceived(node, frame),
      }),
    send: (node, frame) => transport.send(node, frame),
    peers: () => transport.peers(),
    stop: () => transport.stop(),
    frameBytesMax: () => 4_096,
  };
}

/** Files of the runtime in which a function ran while `walk` did. */
async function filesRun(walk: () => Promise<void>): Promise<ReadonlySet<string>> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await walk();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const run = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]?.count !== 0),
  );
  return new Set(run.map(({ url }) => url.replace('file://', '').replace(`${ROOT}/`, '')));
}

test('a message takes the path that is drawn', async () => {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const at = (node: string) =>
    testRuntime({
      kinds: { letters },
      options: { letters: { perform: { print: () => {} } } },
      node,
      place: node,
      clock,
      transport: () => proved(network.join(node)),
    });
  const [a, b] = [await at('a'), await at('b')];
  let taken: unknown;
  const run = await filesRun(async () => {
    await a.spawn('letters/1');
    await b.spawn('letters/1');
    const here = a.runtime.actor('letters/1@a');
    const watch = b.runtime.actor('letters/1@b').subscribe({ next: () => {} });
    await here.send({ type: 'letter.posted', address: 'letters/1@b' });
    await a.settle();
    await b.settle();
    taken = await b.runtime.actor('letters/1@b').ask({ type: 'count.asked' });
    watch.unsubscribe();
  });
  expect(taken).toBe(1);
  // A file that is loaded and has nothing to do with it: what is counted is what ran.
  expect(run.has('runtime/api/explain.ts')).toBe(false);
  const drawn = drawnFiles();
  expect(drawn.length).toBeGreaterThan(20);
  expect(drawn.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(drawn.filter((path) => !run.has(path))).toEqual([]);
  await a.stop();
  await b.stop();
});
