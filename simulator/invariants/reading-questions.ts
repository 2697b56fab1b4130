/**
 * Questions of clients that desks take, the answers that leave, and what keeps a node from answering.
 *
 * Frames to clients are never lost on their way, so the answer that counts is the one that leaves.
 */

import { placeOf } from '../../runtime/address.ts';
import { decodeFrame } from '../../runtime/wire.ts';
import type { FrameFact, RecordOf } from '../history.ts';
import type { FaultRecord, TurnRecord } from './reading-turns.ts';

export interface Reply {
  /** The question's own address. */
  readonly to: string;
  readonly event: { readonly value?: unknown; readonly error?: unknown };
}

/** The question of a client that a desk takes with this turn. */
export function questionIn({ kind, error, context, event }: TurnRecord): string | undefined {
  if (kind !== 'desk' || error !== undefined || context === undefined) return undefined;
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

  get isNone(): boolean {
    return this.#underWay.size === 0;
  }

  /** True when it hinders from now on, or has just done so. */
  fault({ id, kind, change }: FaultRecord): boolean {
    if (!HINDRANCES.has(kind)) return false;
    if (change === 'began') this.#underWay.add(id);
    else if (change === 'ended') this.#underWay.delete(id);
    return change !== 'ended';
  }
}
