/**
 * Context of an agent: the rules it goes by, its commands, and what is known of its end.
 */

import type { Timed } from '../../../runtime/machine.ts';
import type { Role } from '../addresses.ts';
import type {
  CommandType,
  ErrorType,
  Policy,
  Resolution,
  StopCause,
  TerminationStep,
  TimeoutKind,
  TimeoutRecord,
} from '../words.ts';
import { durationText } from '../words.ts';

export interface StepRules {
  readonly type: CommandType;
  /** Null where its policy gives the command no timer. */
  readonly limitMs: number | null;
  readonly idleLimitMs: number | null;
}

/** Successes of the run before the agent began, and the share of their median that its limit is. */
export interface LimitBasis {
  readonly percent: number;
  readonly medianMs: number;
  readonly successes: number;
}

export interface AgentRules {
  readonly steps: readonly StepRules[];
  readonly policy: Policy;
  /** Null where the agent has no timer. */
  readonly agentLimitMs: number | null;
  /** What the agent's limit was worked out from; nothing where it is a number that somebody has stated. */
  readonly limitBasis?: LimitBasis;
  readonly termination: readonly TerminationStep[];
  /** False: what runs out is told and nothing is stopped. */
  readonly enforce: boolean;
  /** Without an enforcer: true runs the agent untimed, false fails the run. */
  readonly runsUntimed: boolean;
  readonly hasWorktree: boolean;
  /** Most that each counter of one item may come to. */
  readonly budget: Readonly<Record<string, number>>;
  /** Ends of commands that mean that a quota is used up: such an end is no failure. */
  readonly quotaExitCodes: readonly number[];
}

export interface MapAgentInput {
  readonly runId: string;
  readonly agentId: string;
  readonly role: Role;
  readonly itemIndex: number;
  readonly attempt: number;
  readonly rules: AgentRules;
}

export interface CommandRecord {
  readonly index: number;
  readonly type: CommandType;
  readonly startedAt: number;
  /** Null for one that was cut off by a stop of the runner. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number | null;
}

export interface ActiveCommand extends CommandRecord {
  /** Process group, once it is known. */
  readonly group: number | null;
  readonly startTicks: string | null;
  readonly lastOutputAt: number;
}

export interface Extension {
  readonly at: number;
  readonly byMs: number;
  readonly by: string;
}

export interface MapAgentContext extends MapAgentInput {
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly agentDueAt: number | null;
  /** Added to the limit of the active command, of an agent without a timer of its own. */
  readonly commandExtraMs: number;
  readonly command: ActiveCommand | null;
  readonly commands: readonly CommandRecord[];
  readonly extensions: readonly Extension[];
  readonly costs: Readonly<Record<string, number>>;
  readonly stopCause: StopCause | null;
  readonly timeout: TimeoutRecord | null;
  readonly failure: {
    readonly type: ErrorType;
    readonly message: string;
    readonly step: number | null;
  } | null;
  /** Timers that ran out in shadow mode. */
  readonly shadowTimeouts: readonly TimeoutRecord[];
  readonly enforcementFailure: string | null;
  /** Signals of the termination that were sent. */
  readonly signalsSent: number;
  readonly firstSignalAt: number | null;
  readonly resolution: Resolution | null;
  readonly cleanup: string | null;
  readonly worktree: { readonly branch: string | null; readonly patch: string | null } | null;
}

export type MapAgentEvent = Timed<
  /** From the program: all that an agent needs is there. */
  | { readonly type: 'agent.started'; readonly branch: string | null }
  | { readonly type: 'preparation.failed'; readonly message: string }
  | { readonly type: 'registration.refused'; readonly message: string }
  /** From itself. */
  | { readonly type: 'limits.changed' }
  | {
      readonly type: 'command.spawned';
      readonly index: number;
      readonly group: number;
      readonly startTicks: string | null;
    }
  | {
      readonly type: 'command.ended';
      readonly index: number;
      readonly exitCode: number;
      readonly signal: string | null;
      /** Nothing of the attempt is left: no process, no worktree. */
      readonly isClean: boolean;
      /** What it printed says that a quota is used up. */
      readonly isQuota: boolean;
    }
  /** A value cannot be given to a command. Nothing was started. */
  | { readonly type: 'command.refused'; readonly index: number; readonly message: string }
  | { readonly type: 'output.seen'; readonly index: number; readonly lastOutputAt: number }
  | { readonly type: 'cost.reported'; readonly name: string; readonly amount: number }
  | { readonly type: 'signal.sent' }
  | { readonly type: 'group.emptied'; readonly killed: boolean }
  | {
      readonly type: 'cleanup.finished';
      readonly failure: string | null;
      readonly worktree: { readonly branch: string | null; readonly patch: string | null } | null;
    }
  /** From its run. */
  | { readonly type: 'agent.cancel'; readonly cause: StopCause }
  | { readonly type: 'agent.kill' }
  /** From a person. */
  | {
      readonly type: 'timeout.extend';
      readonly byMs: number;
      readonly by: string;
      readonly replyTo?: string;
    }
  | { readonly type: 'leadership.acquired'; readonly fence: number; readonly node: string }
>;

type EventOf<TType extends MapAgentEvent['type']> = Extract<MapAgentEvent, { type: TType }>;

export function initialAgent(input: MapAgentInput): MapAgentContext {
  return {
    ...input,
    startedAt: null,
    endedAt: null,
    agentDueAt: null,
    commandExtraMs: 0,
    command: null,
    commands: [],
    extensions: [],
    costs: {},
    stopCause: null,
    timeout: null,
    failure: null,
    shadowTimeouts: [],
    enforcementFailure: null,
    signalsSent: 0,
    firstSignalAt: null,
    resolution: null,
    cleanup: null,
    worktree: null,
  };
}

const stepOf = ({ rules, command }: MapAgentContext): StepRules | undefined =>
  rules.steps[command?.index ?? -1];

export function begunCommand(context: MapAgentContext, at: number): Partial<MapAgentContext> {
  const index = context.commands.length;
  const type = context.rules.steps[index]?.type ?? 'unknown';
  const empty = { exitCode: null, signal: null, durationMs: null, group: null, startTicks: null };
  return { command: { index, type, startedAt: at, lastOutputAt: at, ...empty }, commandExtraMs: 0 };
}

/** Moment when the active command is due, which may be later than its agent is. */
export function commandDueAt(context: MapAgentContext): number | null {
  const { command, enforcementFailure } = context;
  const limitMs = stepOf(context)?.limitMs ?? null;
  if (limitMs === null || command === null || enforcementFailure !== null) return null;
  return command.startedAt + limitMs + context.commandExtraMs;
}

/** The agent's deadline comes first, or together with its command's. */
export function isClipped(context: MapAgentContext): boolean {
  const dueAt = commandDueAt(context);
  return dueAt !== null && context.agentDueAt !== null && context.agentDueAt <= dueAt;
}

export function idleDueAt(context: MapAgentContext): number | null {
  const { command, enforcementFailure } = context;
  const idleLimitMs = stepOf(context)?.idleLimitMs ?? null;
  if (idleLimitMs === null || command === null || enforcementFailure !== null) return null;
  return command.lastOutputAt + idleLimitMs;
}

/** Name of a budget that is overdrawn. */
export function overdrawn({ costs, rules }: MapAgentContext): string | undefined {
  return Object.keys(rules.budget).find((name) => (costs[name] ?? 0) > (rules.budget[name] ?? 0));
}

/** The active command, put with those that have ended. */
export function withEnded(
  context: MapAgentContext,
  { exitCode, signal, at }: Pick<EventOf<'command.ended'>, 'exitCode' | 'signal' | 'at'>,
): Partial<MapAgentContext> {
  const { command, commands } = context;
  if (command === null) return {};
  const { index, type, startedAt } = command;
  const ended = { index, type, startedAt, exitCode, signal, durationMs: at - startedAt };
  return { command: null, commands: [...commands, ended] };
}

/** The active command as one that was cut. Its exit is not waited for. */
export function withCut(context: MapAgentContext, at: number): Partial<MapAgentContext> {
  const { command, commands } = context;
  if (command === null) return {};
  const { index, type, startedAt } = command;
  const cut = { index, type, startedAt, exitCode: null, signal: null, durationMs: at - startedAt };
  return { command: null, commands: [...commands, cut] };
}

export function timedOut(
  context: MapAgentContext,
  kind: TimeoutKind,
  { at, dueAt = at }: { readonly at: number; readonly dueAt?: number },
): TimeoutRecord {
  const { startedAt, command, rules } = context;
  const ofCommand = kind === 'command' || kind === 'idle';
  const step = stepOf(context);
  const limits = {
    agent: rules.agentLimitMs,
    command: step?.limitMs,
    idle: step?.idleLimitMs,
    budget: null,
  };
  return {
    kind,
    commandIndex: ofCommand ? (command?.index ?? null) : null,
    commandType: ofCommand ? (command?.type ?? null) : null,
    configuredMs: limits[kind] ?? 0,
    dueAt,
    decidedAt: at,
    elapsedMs: at - ((ofCommand ? command?.startedAt : startedAt) ?? at),
    policy: rules.policy,
    resolution: null,
    cleanup: null,
  };
}

/** `agent`, `command_shell`, …: as monitoring names it. */
export function timeoutType({ kind, commandType }: TimeoutRecord): string {
  return kind === 'command' ? `command_${commandType}` : kind;
}

/** `300% of the median 1.2s of 14 successes`. */
export const basisText = ({ percent, medianMs, successes }: LimitBasis): string =>
  `${percent}% of the median ${durationText(medianMs)} of ${successes} successes`;

/** Time from its start to the end of its last command; what is cleaned up after that does not count. */
export function workedMs({ startedAt, commands }: MapAgentContext, at: number): number {
  if (startedAt === null) return 0;
  const last = commands.at(-1);
  const endedAt = last?.durationMs == null ? at : last.startedAt + last.durationMs;
  return endedAt - startedAt;
}
