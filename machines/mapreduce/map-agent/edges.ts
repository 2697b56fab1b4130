/**
 * Edges of an agent's chart that recur: a limit that has run out, an end that is cleaned away, a group that is
 * empty. The chart is in map-agent.ts.
 */

import type { AgentOutcome, ErrorType, TimeoutKind } from '../words.ts';
import type { MapAgentContext } from './context.ts';
import * as notes from './log-events.ts';
import { type Args, named } from './setup.ts';

/** A limit has run out: the attempt ends, or in shadow mode that is only told. */
export const ranOut = <TExpired extends string>(kind: TimeoutKind, expired: TExpired) =>
  [
    {
      guard: 'isEnforced',
      target: '#mapAgent.terminating',
      actions: [notes.timeoutOccurred(kind, true), { type: 'decideTimeout', params: kind }],
    },
    {
      target: expired,
      actions: [notes.timeoutOccurred(kind, false), { type: 'keepShadow', params: kind }],
    },
  ] as const;

export const keepFailure = <TEvent>(type: ErrorType, message: (event: TEvent) => string) =>
  ({
    type: 'keepFailure',
    params: ({ context, event }: { context: MapAgentContext; event: TEvent }) => ({
      type,
      message: message(event),
      step: context.command?.index ?? null,
    }),
  }) as const;

export type Said = { readonly message: string };
type Ended = { readonly exitCode: number; readonly signal: string | null; readonly index: number };

export const commandFailed = keepFailure('CommandFailed', ({ index, exitCode, signal }: Ended) =>
  signal === null
    ? `Command ${index} exited with code ${exitCode}`
    : `Command ${index} was ended by ${signal}`,
);

/** The end of an attempt, once what it left is cleaned away. */
export const cleaningAs = <TOutcome extends AgentOutcome>(outcome: TOutcome) =>
  ({
    entry: { type: 'cleanUp', params: named },
    on: {
      'cleanup.finished': { target: `#mapAgent.${outcome}`, actions: 'keepCleanup' },
      'leadership.acquired': { target: outcome, reenter: true },
    },
    after: { cleanupLimit: { target: `#mapAgent.${outcome}`, actions: 'keepCleanup' } },
  }) as const;

export const endedAs = (outcome: AgentOutcome) => {
  const note = outcome === 'timedOut' ? notes.cleanupResolved : notes.completed(outcome === 'done');
  return {
    type: 'final',
    entry: ['keepCut', 'keepEnd', note, { type: 'tellRun', params: outcome }],
  } as const;
};

/** Nothing is left of the group of an attempt that was made to stop. */
export const emptied = (resolution: 'GracefulTermination' | 'ForceTermination') =>
  [
    {
      guard: 'isTimeout',
      target: '#mapAgent.cleaning.timedOut',
      actions: [{ type: 'resolve', params: resolution }, notes.timeoutResolved],
    },
    { guard: 'isCancelled', target: '#mapAgent.cleaning.cancelled' },
    { target: '#mapAgent.cleaning.interrupted' },
  ] as const;

/** SIGKILL to the group of the command that an attempt is at. */
export const killGroup = {
  type: 'killGroup',
  params: (args: Args) => ({
    ...named(args),
    group: args.context.command?.group ?? null,
    startTicks: args.context.command?.startTicks ?? null,
  }),
} as const;

export const limitOfCommand = [
  { guard: 'hasCommandTimer', target: '.armed' },
  { guard: 'isClipped', target: '.clipped' },
  { target: '.off' },
] as const;

export const extending = [
  'extendAgent',
  'grantExtension',
  notes.timeoutExtended,
  'changeLimits',
] as const;

/** What the state that an agent is in does not expect. */
export const unexpected = {
  'agent.started': {},
  'preparation.failed': {},
  'registration.refused': {},
  'limits.changed': {},
  'command.spawned': {},
  'command.ended': {},
  'command.refused': {},
  'output.seen': {},
  'cost.reported': { actions: ['addCost', 'tellCost'] },
  'signal.sent': [
    { guard: 'isFirstSignal', actions: ['keepFirstSignal', notes.signalled] },
    { actions: 'keepFirstSignal' },
  ],
  'group.emptied': {},
  'cleanup.finished': {},
  'agent.cancel': {},
  'agent.kill': {},
  'timeout.extend': { actions: 'refuseExtension' },
  'leadership.acquired': {},
} as const;
