/**
 * Refused groups, slow groups, crashes, lost leases, hardly any room in memory, all at once: in the end
 * every order that anybody has seen was passed on, booked and acknowledged exactly once.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localLease } from '../../runtime/system/local-lease.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { branchMachine, TICK_MS, tellerMachine } from './bank.ts';
import { diskFull, faultyStore } from './faulty-store.ts';
import { codeOf, during, storedOf } from './outcomes.ts';

const TELLERS = ['teller/0', 'teller/1', 'teller/2', 'teller/3', 'teller/4'] as const;
const BRANCHES = ['north', 'east', 'south', 'west'];

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      teller: fc.nat(TELLERS.length - 1),
      branch: fc.nat(BRANCHES.length - 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pass' as const),
      ms: fc.constantFrom(1, 150, 250, 1_000, TICK_MS, 6_000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('tasks' as const),
      count: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const) }) },
);

const setting = fc.record({
  liveActorsMax: fc.constantFrom(1, 2, 3, 4, 100),
  groupTurnsMax: fc.constantFrom(1, 2, 5, 1_024),
  delayTasks: fc.integer({ min: 1, max: 4 }),
  /** Which of the groups are refused, in turn. */
  refusals: fc.array(fc.boolean(), { minLength: 1, maxLength: 25 }),
});

test('whatever goes wrong, every order is passed on, booked and acknowledged once', async () => {
  await fc.assert(
    fc.asyncProperty(
      setting,
      fc.array(step, { minLength: 5, maxLength: 40 }),
      async ({ liveActorsMax, groupTurnsMax, delayTasks, refusals }, steps) => {
        const clock = new SimulatedClock();
        const store = faultyStore(clock);
        const lease = localLease({ lastFence: (name) => store.fence(name) });
        const printed = new Map<string, Set<string>>();
        const rt = await testRuntime({
          kinds: { teller: tellerMachine, branch: branchMachine },
          options: {
            teller: {
              perform: {
                print: {
                  durable: true,
                  run: ({ params, effectId }) => {
                    const ids = printed.get(params.token) ?? new Set();
                    printed.set(params.token, ids.add(effectId));
                  },
                },
              },
            },
          },
          limits: { liveActorsMax, groupTurnsMax },
          clock,
          store,
          lease,
        });
        for (const name of TELLERS) await rt.spawn(name);
        store.delayTasks = delayTasks;
        const waiting = [...refusals];
        store.refuse = () => (waiting.shift() === true ? diskFull() : undefined);

        const sends: Array<Promise<readonly [token: string, code: string]>> = [];
        for (const [index, each] of steps.entries()) {
          if (each.do === 'pass') await rt.advance(each.ms);
          else if (each.do === 'crash') await rt.crash();
          else if (each.do === 'lose') lease.expire('test');
          else if (each.do === 'tasks') {
            for (let task = 0; task < each.count; task += 1) {
              for (let turn = 0; turn < 80; turn += 1) await Promise.resolve();
              clock.runDue();
            }
          } else {
            const teller = rt.actor(TELLERS[each.teller] as (typeof TELLERS)[number]);
            const branch = BRANCHES[each.branch] as string;
            const sent = codeOf(teller.send({ type: 'order.placed', token: `${index}`, branch }));
            sends.push(sent.then((code) => [`${index}`, code] as const));
          }
        }
        const ended = await during(rt, Promise.all(sends));
        await rt.advance('3m');

        const stored = (address: string) => storedOf(store, address).snapshot.context;
        const of = (name: string, field: string) => stored(`${name}@test`)[field] as string[];
        const tokens = TELLERS.flatMap((name) => of(name, 'tokens')).sort();
        expect(new Set(tokens).size).toBe(tokens.length);
        for (const [token, code] of ended) {
          if (code === 'taken') expect(tokens).toContain(token);
          else if (code === 'COMMIT_REFUSED') expect(tokens).not.toContain(token);
          else expect(code).toBe('NOT_HOSTED');
        }
        for (const name of TELLERS)
          expect([...of(name, 'acknowledged')].sort()).toEqual([...of(name, 'tokens')].sort());
        const branches = rt.runtime.query({ kind: 'branch' }).actors;
        expect(
          branches.flatMap(({ address }) => stored(address).booked as string[]).sort(),
        ).toEqual(tokens);
        // A durable effect may be done again, with its own id; of a turn that never was, never.
        expect([...printed.keys()].sort()).toEqual(tokens);
        expect([...printed.values()].every((ids) => ids.size === 1)).toBe(true);
        expect(rt.runtime.undelivered()).toEqual([]);
        expect(rt.runtime.counts()).toMatchObject({ ready: 0, underWay: 0, performers: 0 });
        for (const { isPending } of rt.runtime.query().actors) expect(isPending).toBe(false);
        await rt.stop();
      },
    ),
    { numRuns: 60 },
  );
});
