/**
 * Fields of messages, each checked once where a message enters a place.
 *
 * Durations are whole milliseconds and counters whole numbers up to 2^48, fences up to 2^40, so that
 * what is added to one is exact; progress is a finite number from 0 to 1. Unknown fields are refused.
 */

import { z } from 'zod';
import { ID_PATTERN } from '../addresses.ts';

/** Entries of one page of a list that grows with the job. */
export const PAGE_ENTRIES_MAX = 500;
export const TIMEOUT_MS_MAX = 5_184_000_000;
export const PAYLOAD_BYTES_MAX = 64 * 1024;
/** As the runtime's: no lease has a greater fence. */
const FENCE_MAX = 2 ** 40;
const COUNT_MAX = 2 ** 48;

export const id = z.string().regex(ID_PATTERN, 'must be 1 to 128 letters, digits or "._:-"');
/** `workflowId#n` */
export const attemptId = z.string().regex(/^[A-Za-z0-9._:-]{1,128}#[1-9][0-9]{0,5}$/);
/** `jobId/workflowId#n` */
export const operationId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}\/[A-Za-z0-9._:-]{1,128}#[1-9][0-9]{0,5}$/);
export const count = z.int().min(0).max(COUNT_MAX);
export const fence = z.int().min(1).max(FENCE_MAX);
/** The fence of a leader's lease; 0 before a worker has heard of any. */
export const term = z.int().min(0).max(FENCE_MAX);
/** Time at which a worker was started, by its clock. */
export const bootEpoch = z.int().min(1).max(COUNT_MAX);
export const durationMs = z.int().min(0).max(COUNT_MAX);
export const timeoutMs = z.int().min(1).max(TIMEOUT_MS_MAX);
export const progress = z.number().min(0).max(1);
export const text = z.string().max(8_192);
/** Opaque to everybody but handlers. Its limit is in bytes of UTF-8. */
export const payload = z
  .string()
  .max(PAYLOAD_BYTES_MAX)
  .refine(fits, `must take at most ${PAYLOAD_BYTES_MAX} bytes`);
export const requestId = z.string().regex(/^[A-Za-z0-9._:~-]{1,128}$/);
/** `[gateBoot, counter]`, compared left to right. */
export const decisionEpoch = z.tuple([term, term]).readonly();
export type DecisionEpoch = z.infer<typeof decisionEpoch>;

/** Reading of a place's clock, by the leader of that term: another leader has another clock. */
export const clockReading = z.strictObject({ term: fence, at: count }).readonly();
export type ClockReading = z.infer<typeof clockReading>;

/** Terms that a gate adds when it sends a job to a datacenter. */
export const gateTerms = z
  .strictObject({
    gateId: id,
    elapsedMs: durationMs,
    decisionEpoch,
    beginsBefore: clockReading.optional(),
  })
  .readonly();
export type GateTerms = z.infer<typeof gateTerms>;

/** Set by `ask` of the runtime. */
export const replyTo = z.string().max(512).optional();

/** Part of a list in the order of its keys: from this one on, and up to before that one, or to the end. */
export const range = z.strictObject({
  from: z.union([z.literal(''), operationId]),
  to: operationId.nullable(),
});

export const paging = { page: z.int().min(1), pages: z.int().min(1) };

/**
 * Origin of a manager's message about a job. A manager whose transport knows the address at which its peers
 * reach it says so; that is for people, and answers go to the node that has proved to be the sender.
 */
export const origin = {
  jobId: id,
  datacenter: id,
  managerId: id,
  managerHost: z.string().max(255).optional(),
  managerPort: z.int().min(1).max(65_535).optional(),
  leaderFence: fence,
};
export type Origin = {
  readonly jobId: string;
  readonly datacenter: string;
  readonly managerId: string;
  readonly managerHost?: string | undefined;
  readonly managerPort?: number | undefined;
  readonly leaderFence: number;
};

/** Figures of a job in one datacenter: what a gate decides by, and rebuilds itself from. */
export const figures = z
  .strictObject({
    elapsedMs: durationMs,
    timeoutMs,
    sinceProgressMs: durationMs,
    queued: z.boolean(),
    extensionsMs: durationMs,
    maxWorkerExtensionMs: durationMs,
    workersWithExtensions: count,
    holdMs: durationMs,
    locallyTimedOut: z.boolean(),
    targetDatacenters: z.array(id).max(100).readonly(),
    gateId: id,
  })
  .readonly();
export type Figures = z.infer<typeof figures>;

export const tally = {
  workflowsTotal: count,
  workflowsCompleted: count,
  workflowsFailed: count,
};

/** Report of a worker about one attempt. */
export const attemptReport = z
  .strictObject({
    jobId: id,
    attemptId,
    progress,
    completedItems: count.optional(),
    totalItems: count.optional(),
    sinceProgressMs: durationMs,
    finished: z.boolean(),
  })
  .readonly();
export type AttemptReport = z.infer<typeof attemptReport>;
export type KeyRange = z.infer<typeof range>;

export const isWithin = ({ from, to }: KeyRange, key: string): boolean =>
  key >= from && (to === null || key < to);

function fits(text: string): boolean {
  // A code unit takes at most three bytes, so most texts need not be measured.
  if (text.length * 3 <= PAYLOAD_BYTES_MAX) return true;
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) as number;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x1_0000 ? 3 : 4;
  }
  return bytes <= PAYLOAD_BYTES_MAX;
}
