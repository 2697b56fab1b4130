/**
 * The same random story twice: with deaths at any commit, over LMDB, and without, in memory. In
 * the end nobody can tell which was which, but for how often performers ran.
 *
 * A death takes no time here: what time does to a node that is down is in recovery-deadlines.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assign, enqueueActions, setup } from 'xstate';
import type { PerformerCall } from '../../runtime/actor/kind.ts';
import { to } from '../../runtime/machine.ts';
import { testRuntime } from '../../simulator/testing.ts';
import { codeOf } from '../engine/outcomes.ts';
import { type RecoveryNode, RecoveryNodes } from './recovery-nodes.ts';
import type { Death } from './recovery-store.ts';

const LIMIT_MS = 1_000;
const RING = ['link/0', 'link/1', 'link/2'] as const;

type LinkEvent =
  | { type: 'token.pass'; token: string; hops: number }
  | { type: 'token.posted'; token: string };

/** Hands tokens on to the next one, has each posted, and has a deadline since the last of them. */
const link = setup({
  types: {
    context: {} as { next: string; tokens: string[]; posted: string[]; dues: number[] },
    input: {} as { next: string },
    events: {} as LinkEvent,
  },
  actions: { post: (_, _params: { token: string }) => {} },
  delays: { limit: LIMIT_MS },
}).createMachine({
  id: 'link',
  context: ({ input }) => ({ next: input.next, tokens: [], posted: [], dues: [] }),
  on: {
    'token.posted': {
      actions: assign({ posted: ({ context, event }) => [...context.posted, event.token] }),
    },
  },
  initial: 'holding',
  states: {
    holding: {
      on: {
        'token.pass': {
          target: 'holding',
          reenter: true,
          actions: enqueueActions(({ context, event: { token, hops }, enqueue }) => {
            enqueue.assign({ tokens: [...context.tokens, token] });
            enqueue({ type: 'post', params: { token } });
            if (hops > 0)
              enqueue.sendTo(to(context.next), { type: 'token.pass', token, hops: hops - 1 });
          }),
        },
      },
      after: {
        limit: {
          target: 'holding',
          reenter: true,
          actions: enqueueActions(({ context, event, enqueue }) => {
            const { dueAt = -1 } = event as { dueAt?: number };
            enqueue.assign({ dues: [...context.dues, dueAt] });
            enqueue({ type: 'post', params: { token: `due ${dueAt}` } });
          }),
        },
      },
    },
  },
});

interface Step {
  readonly does: { readonly to: (typeof RING)[number]; readonly hops: number } | number;
  readonly death: Death | null;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    does: fc.oneof(
      fc.record({ to: fc.constantFrom(...RING), hops: fc.nat(2) }),
      fc.constantFrom(1, 400, LIMIT_MS, 2_500),
    ),
    death: fc.option(
      fc.record({
        heardMax: fc.nat(5),
        lastWords: fc.constantFrom('written' as const, 'lost' as const),
      }),
    ),
  }),
  { minLength: 2, maxLength: 10 },
);

interface Posts {
  /** Effect ids, as often as their performer began. */
  readonly begun: string[];
}

function kinds({ begun }: Posts) {
  const run = async ({ params, effectId, send }: PerformerCall) => {
    begun.push(effectId);
    await send({ type: 'token.posted', token: (params as { token: string }).token });
  };
  return {
    kinds: { link },
    options: { link: { perform: { post: { durable: true as const, run } } } },
  };
}

function outcomeOf(runtime: RecoveryNode<{ link: typeof link }>['runtime']) {
  return RING.map((address) => ({
    state: runtime.actor(address).getPersistedSnapshot(),
    history: runtime.history(address, { limit: 1_000 }),
  }));
}

async function withoutDeaths(story: readonly Step[], posts: Posts) {
  const rt = await testRuntime({ node: 'node', ...kinds(posts) });
  for (const [index, address] of RING.entries())
    await rt.spawn(address, { input: { next: RING[(index + 1) % RING.length] as string } });
  for (const [index, { does }] of story.entries()) {
    if (typeof does === 'number') await rt.advance(does);
    else await rt.actor(does.to).send(eventOf(index, does.hops), { id: `${index}` });
    await rt.settle();
  }
  return outcomeOf(rt.runtime);
}

/** Returns also how many deaths came to pass: a step may end before this many groups. */
async function withDeaths(story: readonly Step[], posts: Posts) {
  const nodes = new RecoveryNodes();
  const node = await nodes.start(kinds(posts));
  let deaths = 0;
  const outlive = async () => {
    await nodes.settle();
    if (!node.store.isSilent) return;
    deaths += 1;
    await node.restart();
  };
  for (const [index, address] of RING.entries())
    await nodes.during(
      node.rt.spawn(address, { input: { next: RING[(index + 1) % RING.length] as string } }),
    );
  for (const [index, { does, death }] of story.entries()) {
    if (death !== null) node.dieLater(death);
    if (typeof does === 'number') {
      const endsAt = nodes.clock.now() + does;
      while (nodes.clock.step(endsAt)) await outlive();
      nodes.clock.advanceTo(endsAt);
    } else {
      // Anybody who is told that it may not have been taken sends it again, under the same id.
      for (let code = ''; code !== 'taken'; ) {
        const sent = node.rt.actor(does.to).send(eventOf(index, does.hops), { id: `${index}` });
        const ended = codeOf(sent);
        await outlive();
        code = await ended;
        expect(['taken', 'NOT_HOSTED']).toContain(code);
      }
    }
    await outlive();
  }
  const outcome = outcomeOf(node.runtime);
  const { underWay, performers } = node.runtime.counts();
  expect({ underWay, performers }).toEqual({ underWay: 0, performers: 0 });
  await node.end();
  return { outcome, deaths };
}

function eventOf(index: number, hops: number): LinkEvent {
  return { type: 'token.pass', token: `token ${index}`, hops };
}

test('deaths at any commit change nothing of states and histories, and each message takes effect once', async () => {
  let deaths = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (story) => {
      const expected: Posts = { begun: [] };
      const begun: Posts = { begun: [] };
      const reference = await withoutDeaths(story, expected);
      const lived = await withDeaths(story, begun);
      deaths += lived.deaths;
      expect(lived.outcome).toEqual(reference);
      // The same effects, each at least once here and exactly once there.
      expect(new Set(begun.begun)).toEqual(new Set(expected.begun));
      expect(new Set(expected.begun).size).toBe(expected.begun.length);
    }),
    { numRuns: 25, interruptAfterTimeLimit: 6_000 },
  );
  // So that it cannot pass by dying never.
  expect(deaths).toBeGreaterThan(0);
});
