/**
 * Setup of an agent: its actions, guards and delays, by name. The chart is in map-agent.ts.
 */

import { assign, raise, sendTo, setup } from 'xstate';
import { reply, type Spawned, to } from '../../../runtime/machine.ts';
import { givenEvents } from '../../given.ts';
import { runAddress } from '../addresses.ts';
import type { LogEvent } from '../log-events.ts';
import type { AgentEnded } from '../run/context.ts';
import type { AgentOutcome, Resolution, TimeoutKind } from '../words.ts';
import {
  begunCommand,
  commandDueAt,
  idleDueAt,
  isClipped,
  type MapAgentContext,
  type MapAgentEvent,
  type MapAgentInput,
  overdrawn,
  timedOut,
  withCut,
  withEnded,
  workedMs,
} from './context.ts';
import { failureEntry } from './failure.ts';

export type Args = { readonly context: MapAgentContext; readonly event: MapAgentEvent };

/** Parameters by which the program knows an agent. */
export type AgentParams = Pick<
  MapAgentInput,
  'runId' | 'agentId' | 'role' | 'itemIndex' | 'attempt'
>;

/** As long as a limit may be. */
const EXTENSION_MAX_MS = 60 * 86_400_000;

export const named = ({
  context: { runId, agentId, role, itemIndex, attempt },
}: Args): AgentParams => ({
  runId,
  agentId,
  role,
  itemIndex,
  attempt,
});

const { given, keep } = givenEvents<MapAgentContext, MapAgentEvent>();

export const mapAgentSetup = setup({
  types: {
    context: {} as MapAgentContext,
    events: {} as MapAgentEvent,
    input: {} as Spawned<MapAgentInput>,
  },
  actions: {
    // Done by the program.
    note: (_, _params: LogEvent) => {},
    prepare: (_, _params: AgentParams) => {},
    /** Registers the attempt's timers with its first command, unless `isUntimed`. */
    startCommand: (
      _,
      _params: AgentParams & { readonly index: number; readonly isUntimed: boolean },
    ) => {},
    signalGroup: (_, _params: AgentParams & { readonly signal: string }) => {},
    /** SIGKILL to the group, and to one that an earlier process of the runner has left. */
    killGroup: (
      _,
      _params: AgentParams & { readonly group: number | null; readonly startTicks: string | null },
    ) => {},
    cleanUp: (_, _params: AgentParams) => {},
    // Done by the machine.
    begin: assign(({ context, event }) => {
      const { agentLimitMs } = context.rules;
      return {
        startedAt: event.at,
        agentDueAt: agentLimitMs === null ? null : event.at + agentLimitMs,
        ...(event.type === 'agent.started' && { worktree: { branch: event.branch, patch: null } }),
      };
    }),
    beginCommand: assign(({ context, event }) => begunCommand(context, event.at)),
    /** The limits of the command that begins, or that has got more time, are looked at again. */
    changeLimits: raise(({ event }) => ({ type: 'limits.changed', at: event.at }) as const),
    keepGroup: keep('command.spawned', ({ context, event }) => {
      const { group, startTicks } = event;
      return context.command === null ? {} : { command: { ...context.command, group, startTicks } };
    }),
    keepEnded: keep('command.ended', ({ context, event }) => withEnded(context, event)),
    keepCut: assign(({ context, event }) => withCut(context, event.at)),
    keepOutput: keep('output.seen', ({ context, event }) => {
      const { lastOutputAt } = event;
      return context.command === null ? {} : { command: { ...context.command, lastOutputAt } };
    }),
    addCost: keep('cost.reported', ({ context, event }) => {
      const { name, amount } = event;
      return { costs: { ...context.costs, [name]: (context.costs[name] ?? 0) + amount } };
    }),
    tellCost: sendTo(
      ({ context }) => to(runAddress(context.runId)),
      given('cost.reported', ({ event }) => {
        const { name, amount } = event;
        return { type: 'cost.reported', name, amount };
      }),
    ),
    decideTimeout: assign(({ context, event }, kind: TimeoutKind) => ({
      timeout: timedOut(context, kind, event),
    })),
    keepShadow: assign(({ context, event }, kind: TimeoutKind) => ({
      shadowTimeouts: [...context.shadowTimeouts, timedOut(context, kind, event)],
    })),
    keepStopCause: assign(({ event }) => ({
      stopCause: event.type === 'agent.cancel' ? event.cause : ('interrupted' as const),
    })),
    keepFailure: assign((_, failure: MapAgentContext['failure']) => ({ failure })),
    keepUnavailable: keep('registration.refused', ({ event }) => ({
      enforcementFailure: event.message,
      agentDueAt: null,
    })),
    extendAgent: keep('timeout.extend', ({ context, event }) => {
      const { at, byMs, by } = event;
      const extensions = [...context.extensions, { at, byMs, by }];
      const { agentDueAt, commandExtraMs } = context;
      if (agentDueAt === null) return { extensions, commandExtraMs: commandExtraMs + byMs };
      return { extensions, agentDueAt: agentDueAt + byMs };
    }),
    grantExtension: reply(({ context, event }) => {
      const dueAt = context.agentDueAt ?? commandDueAt(context) ?? event.at;
      return { isExtended: true, dueAt, remainingMs: dueAt - event.at };
    }),
    refuseExtension: reply(() => ({ isExtended: false })),
    countSignal: assign({ signalsSent: ({ context }) => context.signalsSent + 1 }),
    keepFirstSignal: assign(({ context, event }) => ({
      firstSignalAt: context.firstSignalAt ?? event.at,
    })),
    resolve: assign((_, resolution: Resolution) => ({ resolution })),
    keepCleanup: assign(({ context, event }) => {
      const failure =
        event.type === 'cleanup.finished' ? event.failure : 'the limit for cleaning was reached';
      const cleanup = failure === null ? 'CleanupCompleted' : `CleanupFailed(${failure})`;
      const { timeout, resolution } = context;
      return {
        cleanup,
        timeout: timeout && { ...timeout, resolution, cleanup },
        ...(event.type === 'cleanup.finished' && { worktree: event.worktree }),
      };
    }),
    keepEnd: assign({ endedAt: ({ event }) => event.at }),
    tellRun: sendTo(
      ({ context }) => to(runAddress(context.runId)),
      ({ context, event }, outcome: AgentOutcome): AgentEnded => ({
        type: 'agent.ended',
        role: context.role,
        itemIndex: context.itemIndex,
        attempt: context.attempt,
        outcome,
        durationMs: workedMs(context, event.at),
        hasStarted: context.startedAt !== null,
        enforcementFailure: context.enforcementFailure,
        failure:
          outcome === 'failed' || outcome === 'timedOut' ? failureEntry(context, event.at) : null,
      }),
    ),
  },
  guards: {
    needsPreparation: ({ context }) => context.rules.hasWorktree && context.role === 'map',
    isCurrent: ({ context, event }) => 'index' in event && event.index === context.command?.index,
    endsWellWithMore: ({ context, event }) =>
      event.type === 'command.ended' &&
      event.index === context.command?.index &&
      event.exitCode === 0 &&
      event.index + 1 < context.rules.steps.length,
    endsWell: ({ context, event }) =>
      event.type === 'command.ended' &&
      event.index === context.command?.index &&
      event.exitCode === 0,
    endsWellAndClean: ({ context, event }) =>
      event.type === 'command.ended' &&
      event.index === context.command?.index &&
      event.exitCode === 0 &&
      event.isClean,
    isOutOfQuota: ({ context, event }) =>
      event.type === 'command.ended' &&
      event.index === context.command?.index &&
      (event.isQuota || context.rules.quotaExitCodes.includes(event.exitCode)),
    isInterruption: ({ event }) => event.type === 'agent.cancel' && event.cause === 'interrupted',
    isEnforced: ({ context }) => context.rules.enforce,
    runsUntimed: ({ context }) => context.rules.runsUntimed,
    hasAgentLimit: ({ context }) => context.agentDueAt !== null,
    hasCommandTimer: ({ context }) => commandDueAt(context) !== null && !isClipped(context),
    isClipped: ({ context }) => isClipped(context),
    hasIdleLimit: ({ context }) => idleDueAt(context) !== null,
    isExtensible: ({ context, event }) =>
      event.type === 'timeout.extend' &&
      Number.isSafeInteger(event.byMs) &&
      event.byMs >= 1 &&
      event.byMs <= EXTENSION_MAX_MS &&
      (context.agentDueAt ?? commandDueAt(context)) !== null,
    isOverdrawn: ({ context }) => overdrawn(context) !== undefined,
    isOverdrawnAndEnforced: ({ context }) =>
      overdrawn(context) !== undefined && context.rules.enforce,
    hasSignalLeft: ({ context }) => context.signalsSent < context.rules.termination.length,
    isFirstSignal: ({ context }) => context.timeout !== null && context.firstSignalAt === null,
    isTimeout: ({ context }) => context.timeout !== null,
    isCancelled: ({ context }) => context.stopCause === 'cancelled',
    timedOutAndEndedItself: ({ context, event }) =>
      context.timeout !== null && event.type === 'group.emptied' && !event.killed,
  },
  delays: {
    agentLimit: ({ context, event }) => Math.max(0, (context.agentDueAt ?? 0) - event.at),
    commandLimit: ({ context, event }) => Math.max(0, (commandDueAt(context) ?? 0) - event.at),
    idleLimit: ({ context, event }) => Math.max(0, (idleDueAt(context) ?? 0) - event.at),
    /** Counted from the signal, however late that was. */
    grace: ({ context }) => context.rules.termination[context.signalsSent - 1]?.waitMs ?? 0,
    killLimit: 30_000,
    cleanupLimit: 30_000,
  },
});
