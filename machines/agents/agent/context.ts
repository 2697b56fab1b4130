/**
 * Context of an attempt: its rules, its clock, its checkpoints, and what is known of its end.
 */

import type { Timed } from '../../../runtime/machine.ts';
import type { DelegationInput } from '../delegation/context.ts';
import { newProcess, type ProcessContext, type ProcessEvent } from '../process-end.ts';
import {
  type AttemptRules,
  addUsage,
  type Checkpoint,
  type ExpertFailure,
  type Outcome,
  overdrawn,
  type RequestReason,
  type StopReason,
  type Usage,
} from '../words.ts';

export interface AgentInput {
  readonly runId: string;
  readonly taskId: string;
  readonly attemptId: string;
  readonly attempt: number;
  /** Name of the agent in the plan. */
  readonly name: string;
  readonly rules: AttemptRules;
  /** Usage of the task's attempts before this one. */
  readonly usageBefore: Usage;
}

export interface CheckpointRequest {
  readonly requestId: string;
  readonly reason: RequestReason;
  readonly dueAt: number;
  /** The orchestration waits for what comes of it. */
  readonly isCollected: boolean;
}

export interface AgentContext extends ProcessContext, Omit<AgentInput, 'name'> {
  readonly role: 'agent';
  /** Active time up to the last pause, and the moment since which the clock runs again. */
  readonly activeMs: number;
  readonly countingSince: number | null;
  /** Number of the next request of the interval. */
  readonly tick: number;
  readonly requests: number;
  readonly request: CheckpointRequest | null;
  /** Requests that nobody has answered in time. */
  readonly expired: readonly string[];
  readonly misses: number;
  readonly missesTotal: number;
  readonly lastCheckpoint: Checkpoint | null;
  readonly delegations: number;
  readonly delegation: { readonly delegationId: string; readonly requestId: string } | null;
  readonly question: string | null;
  /** Requests that the agent has made, by its own ids. */
  readonly seen: readonly string[];
  readonly usage: Usage;
  readonly lastLineAt: number;
  readonly lastAction: string | null;
  readonly outcome: Outcome | null;
  /** Measured when its end was decided. */
  readonly activeAtEndMs: number;
  readonly reason: string | null;
  readonly error: string | null;
  readonly isRetryable: boolean;
  readonly result: unknown;
}

export type AgentEvent = Timed<
  | ProcessEvent
  | {
      readonly type: 'checkpoint.reported';
      readonly requestId: string | null;
      readonly checkpoint: Omit<Checkpoint, 'at'>;
    }
  | {
      readonly type: 'delegation.requested';
      readonly requestId: string;
      readonly expert: string;
      readonly prompt: string;
      readonly data: unknown;
    }
  | {
      readonly type: 'question.asked';
      readonly requestId: string;
      readonly question: string;
      readonly options: readonly string[] | null;
      readonly context: unknown;
      readonly allow: readonly string[] | null;
    }
  | {
      readonly type: 'usage.reported';
      readonly kind: 'agent' | 'context' | 'session';
      readonly remainingPercent: number | null;
      readonly amounts: Usage;
    }
  | { readonly type: 'quota.exhausted'; readonly resetsInMs: number }
  | {
      readonly type: 'progress.made';
      readonly message: string;
      readonly percent: number | null;
    }
  /** Some line has come, whatever it says; where silence is limited. */
  | { readonly type: 'line.seen' }
  /** From its delegation. */
  | {
      readonly type: 'expert.answered';
      readonly delegationId: string;
      readonly ok: boolean;
      readonly answer: unknown;
      readonly reason: ExpertFailure | null;
      /** What the expert has used. */
      readonly usage: Usage;
    }
  /** From its task. */
  | {
      readonly type: 'human.answered';
      readonly requestId: string;
      readonly questionId: string;
      readonly answer: unknown;
    }
  | {
      readonly type: 'checkpoint.collect';
      readonly reason: 'compaction' | 'pause';
      readonly windowEndsAt: number;
    }
  /** From itself. */
  | { readonly type: 'clock.stop' }
  | { readonly type: 'clock.continue' }
  | { readonly type: 'checkpoint.due' }
  /** A delegation that has ended meanwhile. */
  | { readonly type: 'message.refused' }
>;

export type EventOf<TType extends AgentEvent['type']> = Extract<AgentEvent, { type: TType }>;

const SEEN_MAX = 1_000;
const EXPIRED_MAX = 100;

export function bornAgent(input: AgentInput): AgentContext {
  return {
    ...newProcess,
    ...input,
    role: 'agent',
    activeMs: 0,
    countingSince: null,
    tick: 1,
    requests: 0,
    request: null,
    expired: [],
    misses: 0,
    missesTotal: 0,
    lastCheckpoint: null,
    delegations: 0,
    delegation: null,
    question: null,
    seen: [],
    usage: {},
    lastLineAt: 0,
    lastAction: null,
    outcome: null,
    activeAtEndMs: 0,
    reason: null,
    error: null,
    isRetryable: true,
    result: null,
  };
}

export function activeMsAt({ activeMs, countingSince }: AgentContext, at: number): number {
  return countingSince === null ? activeMs : activeMs + at - countingSince;
}

/** Moment at which so much active time has passed, if the clock runs on. */
function dueAfter({ activeMs, countingSince }: AgentContext, ms: number): number {
  return (countingSince ?? 0) + ms - activeMs;
}

export const clockDueAt = (context: AgentContext): number =>
  dueAfter(context, context.rules.agentLimitMs);

export const tickDueAt = (context: AgentContext): number =>
  dueAfter(context, context.tick * (context.rules.checkpointIntervalMs ?? 0));

export const idleDueAt = ({ lastLineAt, rules }: AgentContext): number =>
  lastLineAt + (rules.idleLimitMs ?? 0);

/** A new request, which takes the place of the one before. */
export function requesting(
  context: AgentContext,
  at: number,
  reason: RequestReason,
  windowEndsAt: number | null,
): Partial<AgentContext> {
  const requests = context.requests + 1;
  const dueAt = windowEndsAt ?? at + context.rules.checkpointTimeoutMs;
  const isCollected = windowEndsAt !== null;
  return { requests, request: { requestId: `c${requests}`, reason, dueAt, isCollected } };
}

export function missed(context: AgentContext): Partial<AgentContext> {
  const { request, expired, misses, missesTotal } = context;
  return {
    request: null,
    expired: request === null ? expired : [...expired, request.requestId].slice(-EXPIRED_MAX),
    misses: misses + 1,
    missesTotal: missesTotal + 1,
  };
}

/** A line in words, for people who look at the attempt; undefined for one that says nothing of its work. */
export function actionOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'progress.made':
      return event.message;
    case 'checkpoint.reported':
      return `checkpoint: ${event.checkpoint.status}`;
    case 'delegation.requested':
      return `asked expert ${event.expert}`;
    case 'question.asked':
      return `asked you: ${event.question}`;
    default:
      return undefined;
  }
}

export const seenWith = ({ seen }: AgentContext, requestId: string): readonly string[] =>
  [...seen, requestId].slice(-SEEN_MAX);

export interface Decision {
  readonly outcome: Outcome;
  readonly reason: string | null;
  readonly stopReason?: StopReason;
  readonly error?: string;
  readonly isRetryable?: boolean;
  readonly result?: unknown;
}

export const usedUp = ({
  rules,
  usageBefore,
  usage,
}: Pick<AgentContext, 'rules' | 'usageBefore' | 'usage'>): string | undefined =>
  overdrawn(rules.budget, addUsage(usageBefore, usage));

export function delegationInput(
  { runId, taskId, attemptId: delegatorId, rules, delegation }: AgentContext,
  { expert: name, prompt, data }: EventOf<'delegation.requested'>,
): DelegationInput {
  const { delegationLimitMs: limitMs, graceMs, malformedLinesMax } = rules;
  const attemptId = delegation?.delegationId ?? '';
  const asked = { name, prompt, data: data ?? null };
  return { runId, taskId, attemptId, delegatorId, ...asked, limitMs, graceMs, malformedLinesMax };
}
