/**
 * The two places of the crash rig, what goes between them, and the limits that both keep.
 *
 * Every add is a sender of its own, so the runtimes here forget senders much sooner than usual:
 * after a time that is still several times as long as the longest repetition.
 */

import type { RuntimeLimits } from '../../runtime/base/limits.ts';

/** The process that survives. */
export const PARENT = 'parent';
/** The node that is killed: each incarnation is a node of its own at this place. */
export const VICTIM = 'victim';

/** What goes through the channel, either way. */
export interface ChannelMessage {
  readonly frame?: string;
  /** From the victim: it hosts, under this fence. */
  readonly fence?: number;
  /** To the victim: stop in order. */
  readonly isStop?: boolean;
}

export const LIMITS: Partial<RuntimeLimits> = {
  dedupRetentionMs: 20_000,
  endedRetentionMs: 1_000,
  retryMaxMs: 1_000,
};
