/**
 * Invariants that the engine keeps for every system, the users' own included: messages, records, turns.
 *
 * Sections 7 and 8 of the catalogue as far as a history shows them; the headers of the files say
 * where the rest is proven.
 */

import { acknowledgedIsDurable, deposedIsRefused, durableBeforeShown } from './commits.ts';
import { nothingIsLost } from './deliveries.ts';
import { failuresStayAlone } from './failures.ts';
import type { Invariant } from './invariant.ts';
import { boundsOfMessages, effectOnce, oneNumberEach, orderOfPairs } from './messages.ts';
import { catchesUp } from './pauses.ts';
import { goesOnFromRecord, refusedNeverHappened, wholeOrAbsent } from './restarts.ts';
import { deadlinesInOrder, machinesAreTotal, nothingAfterEnd, turnsAreFinite } from './turns.ts';

export const engineInvariants: readonly Invariant[] = [
  nothingIsLost,
  effectOnce,
  oneNumberEach,
  orderOfPairs,
  boundsOfMessages,
  acknowledgedIsDurable,
  goesOnFromRecord,
  wholeOrAbsent,
  durableBeforeShown,
  refusedNeverHappened,
  deposedIsRefused,
  nothingAfterEnd,
  failuresStayAlone,
  machinesAreTotal,
  turnsAreFinite,
  catchesUp,
  deadlinesInOrder,
];
