/**
 * Context of a delegation: what an expert is asked, by whom, and what came of it.
 */

import type { Timed } from '../../../runtime/machine.ts';
import { newProcess, type ProcessContext, type ProcessEvent } from '../process-end.ts';
import type { ExpertFailure, Usage } from '../words.ts';

export interface DelegationInput {
  readonly runId: string;
  readonly taskId: string;
  /** Its own id, which is the attempt mark of the expert's process. */
  readonly attemptId: string;
  /** The attempt that asked. */
  readonly delegatorId: string;
  /** Name of the expert in the plan. */
  readonly name: string;
  readonly prompt: string;
  readonly data: unknown;
  readonly limitMs: number;
  readonly graceMs: number;
  readonly malformedLinesMax: number;
}

export interface DelegationContext extends ProcessContext, Omit<DelegationInput, 'name'> {
  readonly role: 'expert';
  readonly dueAt: number;
  readonly ok: boolean;
  readonly answer: unknown;
  readonly reason: ExpertFailure | null;
  readonly usage: Usage;
}

export type DelegationEvent = Timed<
  | ProcessEvent
  /** From the orchestration: a place at the expert is free. */
  | { readonly type: 'expert.granted' }
  /** From the attempt that asked, which has ended. */
  | { readonly type: 'delegator.ended' }
  /** Lines that an expert may not send. */
  | { readonly type: 'delegation.requested' }
  | { readonly type: 'question.asked' }
  | { readonly type: 'checkpoint.reported' }
  | {
      readonly type: 'usage.reported';
      readonly kind: 'agent' | 'context' | 'session';
      readonly remainingPercent: number | null;
      readonly amounts: Readonly<Record<string, number>>;
    }
  | { readonly type: 'quota.exhausted'; readonly resetsInMs: number }
  | {
      readonly type: 'progress.made';
      readonly message: string;
      readonly percent: number | null;
    }
  | { readonly type: 'line.seen' }
  /** An attempt that has ended meanwhile. */
  | { readonly type: 'message.refused' }
>;

export function bornDelegation(input: DelegationInput): DelegationContext {
  return {
    ...newProcess,
    ...input,
    role: 'expert',
    dueAt: 0,
    ok: false,
    answer: null,
    reason: null,
    usage: {},
  };
}
