/**
 * Setup of a delegation: its actions, guards and delays, by name. The chart is in delegation.ts.
 */

import { assign, enqueueActions, sendTo, setup } from 'xstate';
import { to } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import { agentAddress, orchestrationAddress, taskAddress } from '../addresses.ts';
import { type NoteParams, notingFor } from '../notes.ts';
import {
  CLEANUP_LIMIT_MS,
  KILL_LIMIT_MS,
  type ProcessParams,
  START_LIMIT_MS,
} from '../process-end.ts';
import { addUsage, type ExpertFailure, type StopReason } from '../words.ts';
import type { DelegationContext, DelegationEvent, DelegationInput } from './context.ts';

export const noting = notingFor<DelegationContext, DelegationEvent>(
  ({ delegatorId, taskId, attemptId, name }) => ({
    agent_id: delegatorId,
    task_id: taskId,
    delegation_id: attemptId,
    expert: name,
  }),
);

const lateResult = noting('late_result_discarded', ({ event }) => ({
  result: event.type === 'result.reported' ? 'done' : 'failed',
}));

const { given, keep } = givenEvents<DelegationContext, DelegationEvent>();

export const delegationSetup = setup({
  types: {
    context: {} as DelegationContext,
    events: {} as DelegationEvent,
    input: {} as DelegationInput,
  },
  actions: {
    // Done by the program.
    note: (_, _params: NoteParams) => {},
    startProcess: (_, _params: ProcessParams & { readonly attempt: number }) => {},
    closeInput: (_, _params: ProcessParams) => {},
    stopProcess: (_, _params: ProcessParams & { readonly reason: StopReason }) => {},
    killProcess: (
      _,
      _params: ProcessParams & {
        readonly group: number | null;
        readonly startTicks: string | null;
      },
    ) => {},
    cleanUp: (_, _params: ProcessParams) => {},
    // Done by the machine.
    keepProcess: keep('process.started', ({ context, event }) => {
      const { group, startTicks, at } = event;
      return { group, startTicks, startedAt: at, dueAt: at + context.limitMs };
    }),
    keepExit: keep('process.exited', ({ context, event }) => ({
      strayLines: context.strayLines + event.strayLines,
    })),
    keepSignal: assign((_, signal: 'SIGTERM' | 'SIGKILL') => ({ signal })),
    keepEnd: assign({ endedAt: ({ event }) => event.at }),
    countMalformed: assign({ malformedLines: ({ context }) => context.malformedLines + 1 }),
    keepAnswer: keep('result.reported', ({ event }) => ({
      ok: true,
      answer: event.result ?? null,
    })),
    keepReason: assign((_, reason: ExpertFailure) => ({ ok: false, reason })),
    keepStop: keep('attempt.stop', ({ event }) => ({ stopReason: event.reason })),
    keepStopReason: assign((_, stopReason: StopReason) => ({ stopReason })),
    noteLateResult: enqueueActions(({ enqueue }) => enqueue(lateResult as never)),
    tellQueued: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      ({ context: { attemptId, name, taskId } }) => ({
        type: 'delegation.queued',
        delegationId: attemptId,
        expert: name,
        taskId,
      }),
    ),
    addUsage: keep('usage.reported', ({ context, event }) => ({
      usage: addUsage(context.usage, event.amounts),
    })),
    tellQuota: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      given('quota.exhausted', ({ context, event }) => ({
        type: 'quota.exhausted',
        attemptId: context.attemptId,
        resetsInMs: event.resetsInMs,
      })),
    ),
    tellUsage: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      given('usage.reported', ({ event }) => {
        const { kind, remainingPercent, amounts } = event;
        return { type: 'usage.reported', kind, remainingPercent, amounts };
      }),
    ),
    /** To its asker, and to the task, for the case that the attempt is no more. */
    tellAnswer: enqueueActions(({ enqueue, context }) => {
      const { runId, taskId, attemptId: delegationId, delegatorId, name } = context;
      const { ok, answer, reason, usage } = context;
      const said = { delegationId, ok, answer, reason, usage };
      const tell = (address: string, event: object): void =>
        enqueue.sendTo(to(address) as never, event as never);
      tell(agentAddress(runId, delegatorId), { type: 'expert.answered', ...said });
      tell(taskAddress(runId, taskId), { type: 'expert.answered', expert: name, ...said });
      tell(orchestrationAddress(runId), { type: 'delegation.ended', delegationId });
    }),
  },
  guards: {
    isClean: ({ event }) => event.type === 'process.exited' && event.isClean,
    isEmpty: ({ event }) => event.type === 'process.exited' && event.isEmpty,
    isOneTooMany: ({ context }) => context.malformedLines >= context.malformedLinesMax,
    isAnswered: ({ context }) => context.ok,
  },
  delays: {
    delegationLimit: ({ context, event }) => Math.max(0, context.dueAt - event.at),
    grace: ({ context }) => context.graceMs,
    startLimit: START_LIMIT_MS,
    killLimit: KILL_LIMIT_MS,
    cleanupLimit: CLEANUP_LIMIT_MS,
  },
});
