/**
 * Setup of an attempt: its actions, guards and delays, by name. The chart is in agent.ts.
 */

import { assign, enqueueActions, raise, sendTo, setup } from 'xstate';
import { SPAWN_EVENT, to } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import { delegationAddress, orchestrationAddress, taskAddress } from '../addresses.ts';
import type { NoteParams } from '../notes.ts';
import {
  CLEANUP_LIMIT_MS,
  KILL_LIMIT_MS,
  named,
  type ProcessParams,
  START_LIMIT_MS,
} from '../process-end.ts';
import { addUsage, type ExpertFailure, type RequestReason, type StopReason } from '../words.ts';
import {
  type AgentContext,
  type AgentEvent,
  type AgentInput,
  actionOf,
  activeMsAt,
  clockDueAt,
  type Decision,
  delegationInput,
  idleDueAt,
  missed,
  requesting,
  seenWith,
  tickDueAt,
  usedUp,
} from './context.ts';
import * as notes from './notes.ts';

/** A line to the agent, without the fields that every line has. */
export interface LineParams extends ProcessParams {
  readonly line: { readonly type: string; readonly [field: string]: unknown };
}

const sending = (context: AgentContext, line: LineParams['line']): never =>
  ({ type: 'sendLine', params: { ...named({ context }), line } satisfies LineParams }) as never;

const { given, keep, doing } = givenEvents<AgentContext, AgentEvent>();

export const agentSetup = setup({
  types: {
    context: {} as AgentContext,
    events: {} as AgentEvent,
    input: {} as AgentInput,
  },
  actions: {
    // Done by the program.
    note: (_, _params: NoteParams) => {},
    startProcess: (_, _params: ProcessParams & { readonly attempt: number }) => {},
    sendLine: (_, _params: LineParams) => {},
    closeInput: (_, _params: ProcessParams) => {},
    /** The `stop` line, then SIGTERM to the group. */
    stopProcess: (_, _params: ProcessParams & { readonly reason: StopReason }) => {},
    /** SIGKILL to the group, and to one that an earlier process of the runtime has left. */
    killProcess: (
      _,
      _params: ProcessParams & {
        readonly group: number | null;
        readonly startTicks: string | null;
      },
    ) => {},
    cleanUp: (_, _params: ProcessParams) => {},
    // Done by the machine.
    keepProcess: keep('process.started', ({ event }) => {
      const { group, startTicks, at } = event;
      return { group, startTicks, startedAt: at, countingSince: at, lastLineAt: at };
    }),
    keepExit: keep('process.exited', ({ context, event }) => ({
      strayLines: context.strayLines + event.strayLines,
    })),
    keepSignal: assign((_, signal: 'SIGTERM' | 'SIGKILL') => ({ signal })),
    keepEnd: assign({ endedAt: ({ event }) => event.at, request: null, misses: 0 }),
    decide: assign(({ context, event }, decision: Decision) => ({
      outcome: decision.outcome,
      reason: decision.reason,
      stopReason: decision.stopReason ?? null,
      error: decision.error ?? null,
      isRetryable: decision.isRetryable ?? true,
      result: decision.result ?? null,
      activeAtEndMs: activeMsAt(context, event.at),
      countingSince: null,
    })),
    decideResult: keep('result.reported', ({ context, event }) => {
      const activeAtEndMs = activeMsAt(context, event.at);
      return {
        outcome: 'done' as const,
        result: event.result ?? null,
        activeAtEndMs,
        countingSince: null,
      };
    }),
    decideFailure: keep(['failure.reported', 'process.refused'], ({ context, event }) => ({
      outcome: 'failed' as const,
      reason: event.type === 'process.refused' ? 'spawn' : 'reported',
      error: event.error,
      isRetryable: event.retryable,
      activeAtEndMs: activeMsAt(context, event.at),
      countingSince: null,
    })),
    stopClock: assign(({ context, event }) => ({
      activeMs: activeMsAt(context, event.at),
      countingSince: null,
    })),
    continueClock: assign({ countingSince: ({ event }) => event.at }),
    sayStopClock: raise(({ event }) => ({ type: 'clock.stop', at: event.at }) as const),
    sayContinueClock: raise(({ event }) => ({ type: 'clock.continue', at: event.at }) as const),
    countTick: assign({ tick: ({ context }) => context.tick + 1 }),
    sayDue: raise(({ event }) => ({ type: 'checkpoint.due', at: event.at }) as const),
    ask: enqueueActions(
      (
        { enqueue, context, event },
        { reason, windowEndsAt }: { reason: RequestReason; windowEndsAt: number | null },
      ) => {
        const next = requesting(context, event.at, reason, windowEndsAt);
        enqueue.assign(next);
        enqueue(notes.requested as never);
        const { requestId, dueAt } = next.request as NonNullable<AgentContext['request']>;
        const timeoutMs = dueAt - event.at;
        enqueue(sending(context, { type: 'checkpoint.requested', requestId, reason, timeoutMs }));
      },
    ),
    joinRequest: keep('checkpoint.collect', ({ context, event }) => {
      const { request } = context;
      return { request: request && { ...request, dueAt: event.windowEndsAt, isCollected: true } };
    }),
    countMiss: assign(({ context }) => missed(context)),
    keepCheckpoint: keep('checkpoint.reported', ({ event }) => ({
      lastCheckpoint: { ...event.checkpoint, at: event.at },
    })),
    forgetMisses: assign({ misses: 0, request: null }),
    forgetRequest: assign({ request: null }),
    /** The orchestration need not wait for this one. */
    tellCollected: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      ({ context }) => ({ type: 'checkpoint.collected', attemptId: context.attemptId }),
    ),
    keepSeen: keep(['delegation.requested', 'question.asked'], ({ context, event }) => ({
      seen: seenWith(context, event.requestId),
    })),
    delegate: keep('delegation.requested', ({ context, event }) => {
      const delegations = context.delegations + 1;
      const delegationId = `${context.attemptId}.e${delegations}`;
      return { delegations, delegation: { delegationId, requestId: event.requestId } };
    }),
    refuseExpert: doing(
      'delegation.requested',
      ({ enqueue, context, event }, reason: ExpertFailure) => {
        const { requestId } = event;
        enqueue(sending(context, { type: 'expert.answered', requestId, ok: false, reason }));
      },
    ),
    passExpertAnswer: doing('expert.answered', ({ enqueue, context, event }) => {
      const { type, ok, answer, reason } = event;
      const requestId = context.delegation?.requestId;
      const told = ok ? { answer } : { reason };
      enqueue(sending(context, { type, requestId, ok, ...told }));
    }),
    passHumanAnswer: doing('human.answered', ({ enqueue, context, event }) => {
      const { type, requestId, questionId, answer } = event;
      enqueue(sending(context, { type, requestId, questionId, answer }));
    }),
    addExpertUsage: keep('expert.answered', ({ context, event }) => ({
      usage: addUsage(context.usage, event.usage),
    })),
    forgetDelegation: assign({ delegation: null }),
    keepQuestion: assign({
      question: ({ event }) => (event.type === 'question.asked' ? event.requestId : null),
    }),
    forgetQuestion: assign({ question: null }),
    tellQuestion: sendTo(
      ({ context }) => to(taskAddress(context.runId, context.taskId)),
      given('question.asked', ({ context, event }) => {
        const { requestId, question, options, context: about, allow } = event;
        const { attemptId } = context;
        return { type: 'question.asked', attemptId, requestId, question, options, about, allow };
      }),
    ),
    addUsage: keep('usage.reported', ({ context, event }) => ({
      usage: addUsage(context.usage, event.amounts),
    })),
    tellUsage: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      given('usage.reported', ({ event }) => {
        const { kind, remainingPercent, amounts } = event;
        return { type: 'usage.reported', kind, remainingPercent, amounts };
      }),
    ),
    tellQuota: sendTo(
      ({ context }) => to(orchestrationAddress(context.runId)),
      given('quota.exhausted', ({ context, event }) => {
        const { attemptId } = context;
        return { type: 'quota.exhausted', attemptId, resetsInMs: event.resetsInMs };
      }),
    ),
    keepAction: assign({
      lastAction: ({ context, event }) => actionOf(event) ?? context.lastAction,
      lastLineAt: ({ event }) => event.at,
    }),
    keepLine: assign({ lastLineAt: ({ event }) => event.at }),
    countMalformed: assign({ malformedLines: ({ context }) => context.malformedLines + 1 }),
    noteLateResult: enqueueActions(({ enqueue }) => enqueue(notes.lateResult as never)),
    beginDelegation: sendTo(
      ({ context }) => to(delegationAddress(context.runId, context.delegation?.delegationId ?? '')),
      given('delegation.requested', ({ context, event }) => ({
        type: SPAWN_EVENT,
        input: delegationInput(context, event),
      })),
    ),
    /** The orchestration waits no longer for a checkpoint that was asked for. */
    leaveRequest: enqueueActions(({ enqueue, context }) => {
      if (context.request?.isCollected === true) enqueue('tellCollected' as never);
    }),
    releaseDelegation: enqueueActions(({ enqueue, context: { runId, delegation } }) => {
      if (delegation === null) return;
      const address = to(delegationAddress(runId, delegation.delegationId));
      enqueue.sendTo(address as never, { type: 'delegator.ended' } as never);
    }),
    noteRecovered: enqueueActions(({ enqueue, context }) => {
      if (context.outcome === 'stalled') enqueue(notes.recovered as never);
    }),
    tellTask: sendTo(
      ({ context }) => to(taskAddress(context.runId, context.taskId)),
      ({ context }) => ({
        type: `attempt.${context.outcome ?? 'failed'}`,
        attemptId: context.attemptId,
        reason: context.reason,
        error: context.error,
        isRetryable: context.isRetryable,
        result: context.result,
        startedAt: context.startedAt,
        checkpointMisses: context.missesTotal,
        lastCheckpoint: context.lastCheckpoint,
        usage: context.usage,
        delegationId: context.delegation?.delegationId ?? null,
      }),
    ),
  },
  guards: {
    isClean: ({ event }) => event.type === 'process.exited' && event.isClean,
    isEmpty: ({ event }) => event.type === 'process.exited' && event.isEmpty,
    hasCheckpoints: ({ context }) => context.rules.checkpointIntervalMs !== null,
    hasIdleLimit: ({ context }) => context.rules.idleLimitMs !== null,
    /** The agent's own deadline goes before one of the same moment. */
    isClockDue: ({ context, event }) =>
      context.countingSince !== null && clockDueAt(context) <= (event.dueAt ?? event.at),
    isWaitDue: ({ context, event }) =>
      context.request !== null && context.request.dueAt <= (event.dueAt ?? event.at),
    stallsNow: ({ context }) => context.misses + 1 >= context.rules.stallThreshold,
    asksAgain: ({ context }) => context.rules.retryOnMiss,
    isCollected: ({ context }) => context.request?.isCollected === true,
    answersRequest: ({ context, event }) =>
      event.type === 'checkpoint.reported' &&
      (event.requestId === null || event.requestId === context.request?.requestId),
    isLate: ({ context, event }) =>
      event.type === 'checkpoint.reported' &&
      event.requestId !== null &&
      context.expired.includes(event.requestId),
    isUnsolicited: ({ event }) => event.type === 'checkpoint.reported' && event.requestId === null,
    isRepeated: ({ context, event }) =>
      'requestId' in event && context.seen.includes(event.requestId ?? ''),
    isUnknownExpert: ({ context, event }) =>
      event.type === 'delegation.requested' && !context.rules.experts.includes(event.expert),
    isAtDelegationLimit: ({ context }) => context.delegations >= context.rules.delegationsMax,
    isOwnDelegation: ({ context, event }) =>
      event.type === 'expert.answered' && event.delegationId === context.delegation?.delegationId,
    isOwnQuestion: ({ context, event }) =>
      event.type === 'human.answered' && event.requestId === context.question,
    isOneTooMany: ({ context }) => context.malformedLines >= context.rules.malformedLinesMax,
    isUsedUp: ({ context }) => usedUp(context) !== undefined,
  },
  delays: {
    agentLimit: ({ context, event }) => Math.max(0, clockDueAt(context) - event.at),
    checkpointInterval: ({ context, event }) => Math.max(0, tickDueAt(context) - event.at),
    checkpointWait: ({ context, event }) => Math.max(0, (context.request?.dueAt ?? 0) - event.at),
    idleLimit: ({ context, event }) => Math.max(0, idleDueAt(context) - event.at),
    grace: ({ context }) => context.rules.graceMs,
    startLimit: START_LIMIT_MS,
    killLimit: KILL_LIMIT_MS,
    cleanupLimit: CLEANUP_LIMIT_MS,
  },
});
