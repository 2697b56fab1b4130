/**
 * Questions of clients that jobs services take, the answers that leave, and what keeps a node from answering.
 *
 * Frames to clients are never lost on their way, so the answer that leaves is what counts.
 */

import { placeOf } from '../../../runtime/base/address.ts';
import { decodeFrame } from '../../../runtime/delivery.ts';
import type { FrameFact, QuestionFact, RecordOf } from '../../history.ts';
import { LATENESS_MS } from './reading-healed.ts';
import type { FaultRecord, TurnRecord } from './reading-turns.ts';

/** A jobs service has taken an event: with a turn, or to answer it without one. */
export type ServiceRecord = TurnRecord | RecordOf<QuestionFact>;

export interface Reply {
  /** The question's own address. */
  readonly to: string;
  readonly event: { readonly value?: unknown; readonly error?: unknown };
}

/** The question of a client that a jobs service takes with this. */
export function questionIn(record: ServiceRecord): string | undefined {
  const { type, kind, event } = record;
  if (kind !== 'desk') return undefined;
  if (type === 'turn' && (record.error !== undefined || record.context === undefined))
    return undefined;
  const { replyTo } = event as { readonly replyTo?: unknown };
  return typeof replyTo === 'string' && placeOf(replyTo).startsWith('client-')
    ? replyTo
    : undefined;
}

/** The answers in a frame that leaves for a client. */
export function repliesIn({ change, to, frame }: RecordOf<FrameFact>): readonly Reply[] {
  if (change !== 'sent' || !to.startsWith('client-') || !frame.includes('escapement.reply'))
    return [];
  return decodeFrame(frame).envelopes as readonly Reply[];
}

/** What makes a disk or a clock of the cluster keep its node from answering. */
const HINDRANCES: ReadonlySet<string> = new Set([
  'slowDisk',
  'stalledDisk',
  'fullDisk',
  'failedFlush',
  'splitGroup',
  'damagedRecord',
  'diskLost',
  'stepLeaderClock',
  'driftedTakeover',
  'driftingClocks',
  'slowNodes',
]);

export class Hindrances {
  readonly #underWay = new Set<string>();
  #endedAtMs = Number.NEGATIVE_INFINITY;

  /** Whether none was there when a turn was taken that is shown now: it may have waited for the last to end. */
  wasNone(nowMs: number): boolean {
    return this.#underWay.size === 0 && nowMs - this.#endedAtMs > LATENESS_MS;
  }

  /** True when it hinders from now on, or has just done so. */
  fault({ id, kind, change, atMs }: FaultRecord): boolean {
    if (!HINDRANCES.has(kind)) return false;
    if (change === 'began') this.#underWay.add(id);
    if (change !== 'began') this.#endedAtMs = atMs;
    if (change === 'ended') this.#underWay.delete(id);
    return change !== 'ended';
  }
}
