/**
 * Lint on the corpus and on the machines of the project: each of twenty planted defects is found where it was
 * planted, and nothing is said of machines that are as they should be.
 */

import { expect, test } from 'vitest';
import { raise } from 'xstate';
import { CORPUS } from '../../bench/model-corpus/corpus.ts';
import { agentMachine } from '../../machines/agents/agent.ts';
import { delegationMachine } from '../../machines/agents/delegation.ts';
import { orchestrationMachine } from '../../machines/agents/orchestration.ts';
import { taskMachine } from '../../machines/agents/task.ts';
import { failedItemMachine } from '../../machines/mapreduce/failed-item.ts';
import { mapAgentMachine } from '../../machines/mapreduce/map-agent.ts';
import { runMachine } from '../../machines/mapreduce/run.ts';
import { lint } from '../../testing/lint/lint.ts';
import {
  type Draft,
  draftOf,
  rebuild,
  type StateDraft,
  type TransitionDraft,
} from '../../testing/model/definition.ts';

interface Planted {
  readonly in: string;
  readonly rule: string;
  readonly where: string | RegExp;
  plant(draft: Draft): void;
}

const stateIn = ({ root }: Draft, ...path: readonly string[]): StateDraft =>
  path.reduce((state, key) => state.states[key] as StateDraft, root);
const on = (draft: Draft, state: string, type: string): TransitionDraft =>
  stateIn(draft, state).on[type]?.[0] as TransitionDraft;
const setContext = ({ root }: Draft, more: object): void => {
  const rest = root.rest as { context?: object };
  rest.context = { ...rest.context, ...more };
};
const after = (draft: Draft, state: string, name: string, target: string): void => {
  stateIn(draft, state).after[name] = [{ target, actions: [] }];
};

const PLANTED: Readonly<Record<string, Planted>> = {
  'misspelt guard': {
    ...{ in: 'atm', rule: 'unknown-guard', where: 'atm.serving on withdraw' },
    plant: (draft) => Object.assign(on(draft, 'serving', 'withdraw'), { guard: 'isCoverd' }),
  },
  'misspelt action': {
    ...{ in: 'upload', rule: 'unknown-action', where: 'upload.sending on part.sent' },
    plant: (draft) => Object.assign(on(draft, 'sending', 'part.sent'), { actions: ['cuont'] }),
  },
  'misspelt entry': {
    ...{ in: 'circuit-breaker', rule: 'unknown-action', where: 'breaker.open' },
    plant: (draft) => stateIn(draft, 'open').entry.push('rest'),
  },
  'misspelt delay': {
    ...{ in: 'tcp-connection', rule: 'unknown-delay', where: 'tcp.closing' },
    plant: (draft) => after(draft, 'closing', 'userTimeot', 'closed'),
  },
  'misspelt child': {
    ...{ in: 'fetch-once', rule: 'unknown-actor', where: 'fetchOnce.loading' },
    plant: (draft) => Object.assign(stateIn(draft, 'loading').invoke[0] as object, { src: 'laod' }),
  },
  'state that nothing leads to': {
    ...{ in: 'tcp-connection', rule: 'unreachable-state', where: 'tcp.lastAck' },
    plant: (draft) => Object.assign(on(draft, 'closeWait', 'close'), { target: 'closed' }),
  },
  'branch that nothing leads to': {
    ...{ in: 'staged-escalation', rule: 'unreachable-state', where: 'escalation.manager' },
    plant: (draft) => {
      stateIn(draft, 'team').after = {};
    },
  },
  'guard that never holds': {
    ...{ in: 'watchdog', rule: 'unreached-state', where: 'watchdog.dead' },
    plant: ({ implementations }) => {
      implementations.guards.isThird = () => false;
    },
  },
  'candidate behind one without a guard': {
    ...{ in: 'atm', rule: 'losing-transition', where: 'atm.asking on pin.enter (2)' },
    plant: (draft) => delete on(draft, 'asking', 'pin.enter').guard,
  },
  'transient candidate that never wins': {
    ...{ in: 'retry-backoff', rule: 'losing-transition', where: 'retry.deciding always (2)' },
    plant: (draft) => delete stateIn(draft, 'deciding').always[0]?.guard,
  },
  'raised event that nothing takes': {
    ...{ in: 'login-lockout', rule: 'untaken-event', where: 'login.locked' },
    plant: (draft) => stateIn(draft, 'locked').entry.push(raise({ type: 'admin.unlok' })),
  },
  'date in the context': {
    ...{ in: 'upload', rule: 'lossy-context', where: 'context.since' },
    plant: (draft) => setContext(draft, { since: new Date(0) }),
  },
  'map deep in the context': {
    ...{ in: 'circuit-breaker', rule: 'lossy-context', where: 'context.calls.byName' },
    plant: (draft) => setContext(draft, { calls: { byName: new Map() } }),
  },
  'function in the context': {
    ...{ in: 'retry-backoff', rule: 'lossy-context', where: 'context.onDone' },
    plant: (draft) => setContext(draft, { onDone: () => {} }),
  },
  'inner deadline longer than the outer': {
    ...{ in: 'nested-deadlines', rule: 'inner-deadline', where: 'nested.whole.phase.step' },
    plant: ({ implementations }) => {
      implementations.delays.step = 20_000;
    },
  },
  'deadline behind an earlier one': {
    ...{ in: 'car-alarm', rule: 'shadowed-deadline', where: /late$/ },
    plant: (draft) => {
      const timed = Object.values(draft.root.states).find(
        (one) => Object.keys(one.after).length > 0,
      );
      const [first = ''] = Object.keys(timed?.after ?? {});
      draft.implementations.delays.late = 86_400_000;
      if (timed !== undefined) timed.after.late = [...(timed.after[first] ?? [])];
    },
  },
  'more tries than the deadline has time for': {
    ...{ in: 'watchdog', rule: 'retries-over-deadline', where: 'watchdog.watching.resting' },
    plant: (draft) => {
      const { implementations } = draft;
      Object.assign(implementations.delays, { rest: 400 });
      implementations.guards.hasTries = ({ context }: { context: { missed: number } }) =>
        context.missed < 4;
      const watching = stateIn(draft, 'watching') as StateDraft & { initial: TransitionDraft };
      const child = (key: string, more: Partial<StateDraft>): StateDraft => ({
        ...{
          path: ['watching', key],
          id: `watchdog.watching.${key}`,
          on: {},
          after: {},
          always: [],
        },
        ...{ onDone: [], invoke: [], entry: [], exit: [], states: {}, rest: {}, ...more },
      });
      watching.initial = { target: 'trying', actions: [] };
      const again = { guard: 'hasTries', target: 'resting', actions: ['miss'] };
      watching.states.trying = child('trying', { on: { failed: [again] } });
      watching.states.resting = child('resting', {
        after: { rest: [{ target: 'trying', actions: [] }] },
      });
    },
  },
  'extension without a cap': {
    ...{ in: 'atm', rule: 'uncapped-extension', where: 'atm.serving on extend' },
    plant: (draft) => {
      stateIn(draft, 'serving').on.extend = [{ target: 'serving', reenter: true, actions: [] }];
    },
  },
  'promise that nothing ends': {
    ...{ in: 'fetch-once', rule: 'untimed-wait', where: 'fetchOnce.loading' },
    plant: (draft) => {
      stateIn(draft, 'loading').after = {};
    },
  },
  'delay without a name, and effect without one': {
    ...{ in: 'lease-renewal', rule: 'literal-delay', where: 'renewal.lost after 500' },
    plant: (draft) => after(draft, 'lost', '500', 'held'),
  },
};

const PROJECT = {
  ...{ agentMachine, delegationMachine, orchestrationMachine, taskMachine },
  ...{ failedItemMachine, mapAgentMachine, runMachine },
};

/** What is wrong with a machine of the corpus as it is: the waits of a promise that is tried again. */
const KNOWN = ['fetch-retry untimed-wait fetchRetry.loading'];

test('there are twenty planted defects', () => {
  expect(Object.keys(PLANTED)).toHaveLength(20);
});

test.each(Object.entries(PLANTED))('%s is found', (_, { in: name, rule, where, plant }) => {
  const { machine, samples } = CORPUS[name] as (typeof CORPUS)[string];
  const found = (one: typeof machine): string[] =>
    lint(one, samples).map((issue) => `${issue.rule} ${issue.where}`);
  const before = found(machine);
  const draft = draftOf(machine);
  plant(draft);
  const added = found(rebuild(draft)).filter((issue) => !before.includes(issue));
  const isIt = (issue: string): boolean =>
    typeof where === 'string'
      ? issue === `${rule} ${where}`
      : issue.startsWith(rule) && where.test(issue);
  expect(added.filter(isIt), added.join('\n')).toHaveLength(1);
});

test('nothing else is said of the corpus and of the machines of the project', () => {
  const own = Object.entries(PROJECT).map(
    ([name, machine]) => [name, { machine, samples: {} }] as const,
  );
  const alarms = [...Object.entries(CORPUS), ...own].flatMap(([name, { machine, samples }]) =>
    lint(machine as never, samples)
      .filter(({ level }) => level !== 'note')
      .map(({ rule, where }) => `${name} ${rule} ${where}`),
  );
  expect(alarms).toEqual(KNOWN);
});
