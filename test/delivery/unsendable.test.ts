/** Events that a peer would refuse, and disconnect their sender for: they do not leave. */

import { describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { type JobsRole, jobsPeer } from '../../programs/jobs/peer-roles.ts';
import { type Question, reply } from '../../runtime/machine.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { provingTransport } from './proving-transport.ts';
import { upTo } from './talkers.ts';

const board = setup({
  types: {
    context: {} as { taken: number; large: Record<string, number> },
    events: {} as
      | { type: 'put'; [field: string]: unknown }
      | Question<{ type: 'count' }, number>
      | Question<{ type: 'odd' }, unknown>,
  },
}).createMachine({
  id: 'board',
  context: { taken: 0, large: wide(1_001) },
  on: {
    put: { actions: assign({ taken: ({ context }) => context.taken + 1 }) },
    count: { actions: reply(({ context }) => context.taken) },
    odd: { actions: reply(() => ({ constructor: 'of words' })) },
  },
});

function wide(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
}

/** An object of this many levels. */
function deep(levels: number): object {
  return levels === 1 ? {} : { inner: deep(levels - 1) };
}

/** Two nodes that have proved to each other who they are, where `a` has that role. */
async function twoNodes(role: JobsRole = 'node') {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const expelled: string[] = [];
  const claimOf = (node: string) => ({ node, ...jobsPeer(node === 'a' ? role : 'node', node) });
  const open = (node: string) =>
    testRuntime({
      kinds: { board },
      options: { board: { openToClients: true } },
      node,
      clock,
      transport: () =>
        provingTransport(network.join(node), {
          own: claimOf(node),
          identityOf: claimOf,
          expelled: (gone, reason) => expelled.push(`${gone}: ${reason}`),
        }),
    });
  const [a, b] = [await open('a'), await open('b')];
  await b.spawn('board/b');
  const faults = () =>
    [...expelled, a, b].map((one) =>
      typeof one === 'string' ? one : one.runtime.metrics().framesMalformed,
    );
  return { a, b, far: a.actor('board/b@b'), faults };
}

const NONE = [0, 0];
const MALFORMED = { code: 'ENVELOPE_MALFORMED', retryable: false };
const REFUSED = { code: 'EVENT_REFUSED', retryable: false };

describe('an event', () => {
  test.each([
    ['too deep', { put: deep(32) }, MALFORMED],
    ['too wide', wide(1_001), MALFORMED],
    ['with a key that no event has', { words: { constructor: 'of words' } }, MALFORMED],
    ['of a name that is too long', { type: 'x'.repeat(1_025) }, MALFORMED],
    ['with answers to what is no address', { replyTo: 'ann@example.org <Ann>' }, MALFORMED],
    ['with answers to somebody else', { replyTo: 'ask/1@c' }, REFUSED],
  ])('%s is refused to its sender, and the peers stay together', async (_, fields, refused) => {
    const { b, far, faults } = await twoNodes();
    for (let time = 0; time < 4; time += 1)
      await expect(far.send({ type: 'put', ...fields } as never)).rejects.toMatchObject(refused);
    far.hint({ type: 'put', ...fields } as never);
    await far.send({ type: 'put' });
    expect(b.actor('board/b').getSnapshot().context.taken).toBe(1);
    expect(faults()).toEqual(NONE);
  });

  test('as deep as may be arrives, also as one of a batch', async () => {
    const { b, far, faults } = await twoNodes();
    const event = { type: 'put', inner: deep(31) } as const;
    await Promise.all([far.send(event), far.send(event), far.send(event)]);
    expect(b.actor('board/b').getSnapshot().context.taken).toBe(3);
    expect(faults()).toEqual(NONE);
  });

  test.each([
    ['a text longer than others may send', { text: 'x'.repeat(8_193) }, MALFORMED],
    ['a payload longer than others may send', { payload: 'x'.repeat(65_537) }, MALFORMED],
    ['more than clients may send', { list: upTo(100).map(() => 'x'.repeat(8_000)) }, REFUSED],
  ])('of a client with %s is refused there', async (_, fields, refused) => {
    const { far, faults } = await twoNodes('client');
    for (let time = 0; time < 4; time += 1)
      await expect(far.send({ type: 'put', ...fields })).rejects.toMatchObject(refused);
    await far.send({ type: 'put', text: 'x'.repeat(8_192), payload: 'x'.repeat(65_536) });
    expect(await far.ask({ type: 'count' })).toBe(1);
    expect(faults()).toEqual(NONE);
  });
});

test('an answer that cannot travel is one that says so', async () => {
  const { far, faults } = await twoNodes();
  await expect(far.ask({ type: 'odd' })).rejects.toMatchObject(MALFORMED);
  await expect(far.fetchSnapshot()).rejects.toMatchObject(MALFORMED);
  expect(await far.ask({ type: 'count' })).toBe(0);
  expect(faults()).toEqual(NONE);
});
