/** Words to a run: ends of its agents, costs, kept failures, people and a restart. */

import type { RunContext } from '../../../machines/mapreduce/run/context.ts';
import { runMachine } from '../../../machines/mapreduce/run.ts';
import type { SentEvent } from '../../../testing/model/step.ts';
import type { OwnMachine } from './own-machine.ts';

const agentRules = {
  ...{ steps: [{ type: 'shell', limitMs: 5_000, idleLimitMs: null }], policy: 'per_agent' },
  ...{ agentLimitMs: 60_000, termination: [], enforce: true, runsUntimed: true },
  ...{ hasWorktree: false, budget: {}, quotaExitCodes: [] },
};
const rules = {
  workflow: 'w',
  itemCount: 3,
  maxParallel: 2,
  map: agentRules,
  setup: null,
  reduce: null,
  retry: {
    ...{ maxAttempts: 2, retryOn: ['timeout', 'command_failed'], backoff: 'fixed' },
    ...{ initialDelayMs: 5_000, maxDelayMs: 9_000 },
  },
  timeoutAction: 'dlq',
  onItemFailure: 'skip',
  alertPercent: null,
  quotaResumeAfterMs: 60_000,
  medianLimit: null,
  budget: { tokens: 10 },
  halt: null,
  resolvesFailedItems: false,
};
const run = (changes: object) => ({ runId: 'r1', about: {}, rules: { ...rules, ...changes } });

const inputs = {
  'without items': run({ itemCount: 0 }),
  usual: run({}),
  'with steps before and after': run({ itemCount: 1, setup: agentRules, reduce: agentRules }),
  'stopped now by failures': run({
    ...{
      halt: { when: 'now', failures: 1, isPercent: false },
      retry: { ...rules.retry, maxAttempts: 1 },
    },
  }),
  'stopped soon by failures': run({
    ...{ halt: { when: 'soon', failures: 30, isPercent: true }, timeoutAction: 'fail' },
    retry: { ...rules.retry, retryOn: [] },
  }),
  'alarmed by timeouts': run({ itemCount: 12, maxParallel: 12, alertPercent: 0 }),
  'limited by the median': run({ medianLimit: { percent: 300, successesMin: 1, leastMs: 1 } }),
  'of items that failed before': run({ itemCount: 1, resolvesFailedItems: true }),
};

function failureOf(agentId: string, attemptNumber: number, at: number, errorType: string): object {
  const timeoutKind = errorType === 'Timeout' ? 'agent' : null;
  const said = { timestamp: at, errorType, errorMessage: 'it failed', stepFailed: 0 };
  return { attemptNumber, agentId, ...said, durationMs: 5, exitCode: 1, timeoutKind };
}

/** Ends of the first agents that run, and of one that does not. */
function ends({ agents }: RunContext, at: number): SentEvent[] {
  const [first, second] = [...agents];
  const unknown = ['agent-9-1', { role: 'map', itemIndex: 9, attempt: 1 }] as const;
  return [first, second, unknown].flatMap((each, place) => {
    if (each === undefined) return [];
    const [agentId, { role, itemIndex, attempt }] = each;
    const ended = {
      type: 'agent.ended',
      role,
      itemIndex,
      attempt,
      durationMs: 5,
      hasStarted: true,
    };
    const failing = (outcome: string, errorType: string): SentEvent => ({
      ...ended,
      ...{ outcome, enforcementFailure: null },
      failure: failureOf(agentId, attempt, at, errorType),
    });
    const well = { ...ended, outcome: 'done', enforcementFailure: null, failure: null };
    if (place > 0) return [well];
    return [
      well,
      failing('failed', 'CommandFailed'),
      failing('failed', 'Unknown'),
      failing('timedOut', 'Timeout'),
      ...['cancelled', 'interrupted', 'deferred'].map((outcome) => ({ ...well, outcome })),
    ];
  });
}

const events = (context: RunContext, at: number): SentEvent[] => [
  ...ends(context, at),
  { type: 'cost.reported', name: 'tokens', amount: 11 },
  ...[...context.recording.keys()].slice(0, 2).map((key) => ({
    ...{ type: 'failure.kept', itemIndex: Number(key) },
  })),
  { type: 'failure.kept', itemIndex: 99 },
  { type: 'run.interrupt' },
  { type: 'run.kill' },
  { type: 'run.resume' },
  { type: 'message.refused' },
  { type: 'leadership.acquired', fence: 2, node: 'here' },
];

export const runOfItems: OwnMachine = {
  machine: runMachine,
  samples: {
    inputs,
    events,
    key: (context: RunContext) => [
      [context.rules.itemCount, context.rules.halt?.when, context.rules.alertPercent],
      [context.rules.setup !== null, context.rules.resolvesFailedItems],
      [context.rules.medianLimit !== null, Math.min(context.counts.done, 1)],
      [context.agents.size, context.recording.size, context.retries.size, context.next],
      Object.values(context.counts),
      [context.setup.outcome, context.reduce.outcome, context.reason],
      [Math.min(context.timeouts, 3), (context.costs.tokens ?? 0) > 10],
    ],
  },
};
