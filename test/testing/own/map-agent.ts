/** Words to a map agent: by its runner, its run, a person and a restart. */

import type { MapAgentContext } from '../../../machines/mapreduce/map-agent/context.ts';
import { mapAgentMachine } from '../../../machines/mapreduce/map-agent.ts';
import type { SentEvent } from '../../../testing/model/step.ts';
import type { OwnMachine } from './own-machine.ts';

const step = { type: 'shell', limitMs: 5_000, idleLimitMs: 2_000 };
const rules = {
  steps: [step, { ...step, limitMs: null, idleLimitMs: null }],
  policy: 'hybrid',
  agentLimitMs: 60_000,
  termination: [
    { signal: 'SIGINT', waitMs: 1_000 },
    { signal: 'SIGTERM', waitMs: 3_000 },
  ],
  enforce: true,
  runsUntimed: true,
  hasWorktree: true,
  budget: { tokens: 10 },
  quotaExitCodes: [75],
};
const agent = { runId: 'r1', agentId: 'agent-0-1', role: 'map', itemIndex: 0, attempt: 1 };
const withRules = (changes: object) => ({ ...agent, rules: { ...rules, ...changes } });
const once = [step];
const patient = [{ ...step, idleLimitMs: null }];

const inputs = {
  'with all limits': withRules({}),
  'without a worktree, clipped': withRules({
    ...{ hasWorktree: false, agentLimitMs: 4_000, termination: [], steps: patient },
  }),
  'with limits of commands alone': withRules({
    ...{ hasWorktree: false, agentLimitMs: null, steps: patient },
  }),
  'with limits of commands alone, in shadow mode': withRules({
    ...{ hasWorktree: false, agentLimitMs: null, enforce: false, steps: patient },
  }),
  'with all limits in shadow mode, never untimed': withRules({
    ...{ hasWorktree: false, enforce: false, runsUntimed: false, steps: once },
  }),
};

function events(context: MapAgentContext, at: number): SentEvent[] {
  const index = context.command?.index ?? 0;
  const ended = { type: 'command.ended', index, exitCode: 0, signal: null, isClean: false };
  const extension = { type: 'timeout.extend', by: 'ann' };
  return [
    { type: 'agent.started', branch: 'b' },
    { type: 'preparation.failed', message: 'no disk' },
    { type: 'registration.refused', message: 'no enforcer' },
    { type: 'limits.changed' },
    { type: 'command.spawned', index, group: 7, startTicks: '9' },
    { type: 'command.spawned', index: index + 5, group: 8, startTicks: null },
    { ...ended, isQuota: false },
    { ...ended, isQuota: false, isClean: true },
    { ...ended, isQuota: true },
    { ...ended, isQuota: false, exitCode: 75 },
    { ...ended, isQuota: false, exitCode: 1 },
    { ...ended, isQuota: false, exitCode: 137, signal: 'SIGKILL' },
    { ...ended, isQuota: false, index: index + 5 },
    { type: 'command.refused', index, message: 'a value with a null byte' },
    { type: 'command.refused', index: index + 5, message: 'a value with a null byte' },
    { type: 'output.seen', index, lastOutputAt: at },
    { type: 'output.seen', index: index + 5, lastOutputAt: at },
    { type: 'cost.reported', name: 'tokens', amount: 11 },
    { type: 'signal.sent' },
    { type: 'group.emptied', killed: true },
    { type: 'group.emptied', killed: false },
    { type: 'cleanup.finished', failure: null, worktree: { branch: 'b', patch: null } },
    { type: 'cleanup.finished', failure: 'no disk', worktree: null },
    { type: 'agent.cancel', cause: 'cancelled' },
    { type: 'agent.cancel', cause: 'interrupted' },
    { type: 'agent.kill' },
    { ...extension, byMs: 1_500 },
    { ...extension, byMs: 0 },
    { type: 'leadership.acquired', fence: 2, node: 'here' },
  ];
}

export const mapAgent: OwnMachine = {
  machine: mapAgentMachine,
  samples: {
    inputs,
    events,
    key: (context: MapAgentContext) => [
      [context.command?.index, context.commands.length, context.command?.group],
      [context.stopCause, context.timeout?.kind, context.signalsSent],
      [context.firstSignalAt !== null, context.enforcementFailure],
      [context.agentDueAt === null, (context.costs.tokens ?? 0) > 10, context.rules.enforce],
      [context.rules.agentLimitMs, context.rules.runsUntimed],
    ],
  },
  unreachable: {
    'mapAgent on leadership.acquired': 'Every state in which it lives has an answer of its own.',
  },
};
