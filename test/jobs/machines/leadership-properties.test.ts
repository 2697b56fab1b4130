import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { initialTransition, transition } from 'xstate';
import { type LeadershipEvent, leadershipMachine } from '../../../machines/leadership.ts';
import { rules } from './leadership-scene.ts';

describe('whatever leadership hears', () => {
  const request = fc.integer({ min: 0, max: 6 });
  const jitter = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const fence = fc.integer({ min: 1, max: 50 });
  const heard = fc.oneof(
    fc.record({ type: fc.constant('lease.granted' as const), request, fence }),
    fc.record({ type: fc.constant('lease.renewed' as const), request }),
    fc.record({ type: fc.constant('lease.raised' as const), request, fence }),
    fc.record({ type: fc.constantFrom('lease.refused', 'leaseStore.failed'), request, jitter }),
    fc.record({ type: fc.constantFrom('leaseStore.changed', 'lease.resign') }),
    fc.record({ type: fc.constant('fence.raise' as const), atLeast: fence }),
  );
  const step = fc.tuple(fc.integer({ min: 0, max: 4_000 }), heard);

  test('it leads only under a fence it was given, and never twice without having lost', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let at = 1_000;
        const born = { rules, at };
        let [snapshot] = initialTransition(leadershipMachine, born);
        // Nobody fires its timers here: the first one is what makes it ask.
        const play = [[0, { type: 'leaseStore.changed' }] as const, ...steps];
        let isLeading = false;
        for (const [laterMs, event] of play) {
          at += laterMs;
          const [next, actions] = transition(leadershipMachine, snapshot, {
            ...event,
            at,
          } as LeadershipEvent);
          for (const { type, params } of actions as Array<{ type: string; params: unknown }>) {
            if (type === 'announceLost') {
              expect(isLeading).toBe(true);
              isLeading = false;
            }
            if (type !== 'announceLeading') continue;
            expect(isLeading).toBe(false);
            isLeading = true;
            expect(params).toMatchObject({ fence: (event as { fence: number }).fence });
            expect((params as { until: number }).until).toBeGreaterThanOrEqual(at);
          }
          snapshot = next;
          expect(snapshot.matches('leading')).toBe(isLeading);
        }
      }),
    );
  });
});
