/**
 * Subjects of records, as a system tells them: where the history does not say what came of what, the last thing that
 * happened about the same subject on the same node is taken for the cause.
 */

import type { HistoryRecord } from '../history.ts';

export type WorkRecord = Extract<HistoryRecord, { readonly type: 'work' }>;

export interface Subjects {
  /** What a record is about, as far as it says so: the id of an order. */
  readonly of: (record: HistoryRecord) => string | undefined;
  /** What a frame is about, by its text: it may be damaged. */
  readonly inFrame: (frame: string) => string | undefined;
  /** True of work that is done for the actor. */
  readonly isWorkFor: (work: WorkRecord, address: string) => boolean;
  /** True of events that bring an actor what is done for it. */
  readonly isOfWork: (event: { readonly type: string }) => boolean;
}

/** For systems that say nothing of it. */
export const NO_SUBJECTS: Subjects = {
  of: () => undefined,
  inFrame: () => undefined,
  isWorkFor: () => false,
  isOfWork: () => false,
};
