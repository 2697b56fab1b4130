/**
 * Bugs of runs of agents: one for each of their invariants, and for what chance seldom takes.
 */

import { plantsOf } from './plant.ts';

const SEEDS = 'test/agents/machines/seeds.test.ts';
const EDGES = 'test/agents/machines/edges.test.ts';

export const agentPlants = plantsOf('agents', SEEDS, [
  {
    id: 'P401',
    says: 'AG-1: an attempt of the runtime before counts as ended, and nobody kills its process.',
    file: 'machines/agents/agent.ts',
    find: `actions: killed },
        'leadership.acquired': { target: 'terminating.killing', actions: restarted },
        'usage.reported'`,
    replace: `actions: killed },
        'leadership.acquired': { target: 'ended', actions: restarted },
        'usage.reported'`,
  },
  {
    id: 'P402',
    says: 'AG-2: one attempt more than there are slots is dispatched.',
    file: 'machines/agents/orchestration/steps.ts',
    find: 'taskId !== undefined && live.size < slots;',
    replace: 'taskId !== undefined && live.size <= slots;',
  },
  {
    id: 'P403',
    says: 'AG-3: a stall counts twice.',
    file: 'machines/agents/task/setup.ts',
    find: 'context.stallCount + 1 }',
    replace: 'context.stallCount + 2 }',
  },
  {
    id: 'P404',
    says: 'AG-4: the clock of an attempt begins at 0 again after it has waited for somebody.',
    file: 'machines/agents/agent/setup.ts',
    find: `stopClock: assign(({ context, event }) => ({
      activeMs: activeMsAt(context, event.at),`,
    replace: `stopClock: assign(({ context, event }) => ({
      activeMs: 0 * activeMsAt(context, event.at),`,
  },
  {
    id: 'P405',
    says: 'AG-5: a request of a checkpoint takes the place of one that is not answered yet.',
    file: 'machines/agents/agent/checkpoints.ts',
    find: `    requested: {
      on: {`,
    replace: `    requested: {
      on: {
        'checkpoint.due': { target: 'requested', reenter: true, actions: ask('interval') },`,
  },
  {
    id: 'P406',
    says: 'AG-6: a task whose attempt was stopped while it asked is dispatched again beside its open question.',
    file: 'machines/agents/task.ts',
    find: `            guard: 'hasQuestion',
            target: 'awaitingHuman',
            actions: ['keepAttempt', settled('awaitingHuman')],`,
    replace: `            guard: 'isForeign',
            target: 'awaitingHuman',
            actions: ['keepAttempt', settled('awaitingHuman')],`,
  },
  {
    id: 'P407',
    says: 'AG-7: the misses of an attempt that has ended are left.',
    file: 'machines/agents/agent/setup.ts',
    find: 'request: null, misses: 0 }),\n    decide:',
    replace: 'request: null }),\n    decide:',
  },
  {
    id: 'P408',
    says: 'AG-8: an attempt waits for an expert that never answers, without a limit.',
    file: 'machines/agents/delegation/setup.ts',
    find: 'delegationLimit: ({ context, event }) => Math.max(0, context.dueAt - event.at)',
    replace: 'delegationLimit: ({ context, event }) => Math.max(1e9, context.dueAt - event.at)',
  },
  {
    id: 'P409',
    says: 'AG-9: one more of an expert runs than may.',
    file: 'machines/agents/orchestration/order.ts',
    find: '(running.get(expert) ?? 0) < (rules',
    replace: '(running.get(expert) ?? 0) <= (rules',
  },
  {
    id: 'P410',
    says: 'AG-10: an attempt that was stopped counts as a failure.',
    file: 'machines/agents/task.ts',
    find: "actions: ['keepAttempt', because('agent_killed'), ...requeue]",
    replace: "actions: ['keepAttempt', 'countFailure', because('agent_killed'), ...requeue]",
  },
  {
    id: 'P411',
    says: 'AG-11: an answered checkpoint does not make up for the misses before it.',
    file: 'machines/agents/agent/setup.ts',
    find: 'forgetMisses: assign({ misses: 0, request: null })',
    replace: 'forgetMisses: assign({ request: null })',
  },
  {
    id: 'P412',
    says: 'AG-12: an attempt that leaves with exit code 0 and no word is done.',
    file: 'machines/agents/agent/edges.ts',
    find: `    outcome: 'failed' as const,
    reason: 'exit',`,
    replace: `    outcome: event.exitCode === 0 ? ('done' as const) : ('failed' as const),
    reason: 'exit',`,
  },
  {
    id: 'P413',
    says: 'AG-13: a run tries again before its quota is there again.',
    file: 'machines/agents/orchestration/setup.ts',
    find: 'quotaReset: ({ context, event }) => Math.max(0, context.quotaEndsAt - event.at)',
    replace: 'quotaReset: ({ context, event }) => Math.min(9, context.quotaEndsAt - event.at)',
  },
  {
    id: 'P414',
    says: 'AG-14: lines of an attempt do not move the limit of its silence.',
    file: 'machines/agents/agent/setup.ts',
    find: 'keepLine: assign({ lastLineAt: ({ event }) => event.at })',
    replace: 'keepLine: assign({ lastLineAt: ({ context }) => context.lastLineAt })',
  },
  {
    id: 'P415',
    says: 'AG-14: a budget may be overdrawn ten times.',
    file: 'machines/agents/words.ts',
    find: '(usage[name] ?? 0) > (budget[name] ?? 0)',
    replace: '(usage[name] ?? 0) > 10 * (budget[name] ?? 0)',
  },
  {
    id: 'P416',
    says: 'AG-15: a run that drains dispatches what is available.',
    file: 'machines/agents/orchestration.ts',
    find: "{ guard: 'isOnlyAsking', target: 'blocking' },",
    replace:
      "{ guard: 'isOnlyAsking', target: 'blocking' }, { guard: 'canDispatch', actions: 'dispatch' },",
  },
  {
    id: 'P417',
    says: 'A drain that comes while the context is compacted is dropped.',
    file: 'machines/agents/orchestration.ts',
    find: "'run.drain': { actions: 'keepDrain' }",
    replace: "'run.drain': {}",
    suite: EDGES,
  },
  {
    id: 'P418',
    says: 'A quota that is used up while the context is compacted is dropped.',
    file: 'machines/agents/orchestration.ts',
    find: "'quota.exhausted': { actions: 'keepQuota' }",
    replace: "'quota.exhausted': {}",
    suite: EDGES,
  },
  {
    id: 'P419',
    says: 'A run that is resumed or begun again does not wait for its quota.',
    file: 'machines/agents/orchestration.ts',
    find: "        { guard: 'isQuotaUsedUp', target: 'quota' },\n",
    replace: '',
    suite: EDGES,
  },
  {
    id: 'P420',
    says: 'An attempt of whose start nothing is heard is waited for without a limit.',
    file: 'machines/agents/agent.ts',
    find: "after: { startLimit: { target: 'terminating.killing', actions: notStarted } },",
    replace: '',
    suite: EDGES,
  },
  {
    id: 'P421',
    says: 'What an expert has used counts for nobody.',
    file: 'machines/agents/agent.ts',
    find: "['passExpertAnswer', 'addExpertUsage', 'forgetDelegation']",
    replace: "['passExpertAnswer', 'forgetDelegation']",
    suite: EDGES,
  },
  {
    id: 'P422',
    says: 'A probe that asks a human holds up the whole run until he answers.',
    file: 'machines/agents/orchestration/quota.ts',
    find: "        'question.opened': {\n          target: '#orchestration.running',",
    replace: "        'question.opened': {",
    suite: EDGES,
  },
  {
    id: 'P423',
    says: 'An answer that its task cannot use leaves the task without a question, for good.',
    file: 'machines/agents/task.ts',
    find: "{ actions: [refused, 'escalate'] }",
    replace: '{ actions: [refused] }',
    suite: EDGES,
  },
]);
