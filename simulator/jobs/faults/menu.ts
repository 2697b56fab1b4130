/**
 * The nemesis menu of the jobs system: what any cluster can have, and what it takes gates, workers and
 * jobs for.
 *
 * Not on it: rolling upgrades, of which there is no second version to roll to, and configurations drawn
 * from their legal extremes, which are part of a plan from its beginning.
 */

import { MENU, type NemesisKind } from '../../faults.ts';
import type { JobsScene } from '../scene.ts';
import { boundaryJitter, everythingAtOnce, extensionStorm } from './boundaries.ts';
import { byzantinePeer } from './byzantine.ts';
import {
  killBeforeAcknowledgement,
  killBetweenDeclarationAndBroadcast,
  killBetweenGrantAndCount,
  workerDiesAfterGrant,
} from './failpoints.ts';
import { gateAwayAfterReport, partedSubmission, silentAfterStall } from './gate-contact.ts';
import { partedDeclaration, takeoverAtDeclaration } from './gate-declarations.ts';
import { wordBehindHistory } from './gate-history.ts';
import {
  configReload,
  forgetfulGate,
  gateOutage,
  isolateGateAtDeclaration,
  partDatacenters,
} from './gates.ts';
import { overload } from './load.ts';
import { buggify, delayedDuplicate, progressStarvation, starvedHeartbeats } from './messages.ts';
import { silentAtWork } from './workers.ts';

/** What the jobs system does in its own way, in the place of the engine's kind of the same name. */
const INSTEAD = [boundaryJitter, delayedDuplicate, buggify];

/**
 * What it has beyond the engine's kinds, each group behind the kind that it is named after. A plan names its kinds,
 * so their order matters to chance alone: add at the end of the last group.
 */
const BEHIND: Readonly<Record<string, ReadonlyArray<NemesisKind<JobsScene>>>> = {
  isolateLeader: [isolateGateAtDeclaration],
  partition: [partDatacenters],
  killAtFailpoint: [
    killBetweenGrantAndCount,
    killBetweenDeclarationAndBroadcast,
    killBeforeAcknowledgement,
    workerDiesAfterGrant,
  ],
  damagedRecord: [gateOutage, forgetfulGate, configReload],
  boundaryJitter: [everythingAtOnce, extensionStorm, progressStarvation],
  buggify: [overload],
  throwingOnlookers: [byzantinePeer],
  lateCommit: [
    partedSubmission,
    gateAwayAfterReport,
    silentAfterStall,
    starvedHeartbeats,
    silentAtWork,
    takeoverAtDeclaration,
    partedDeclaration,
    wordBehindHistory,
  ],
};

export const JOBS_MENU: ReadonlyArray<NemesisKind<JobsScene>> = MENU.flatMap((kind) => [
  INSTEAD.find((own) => own.kind === kind.kind) ?? kind,
  ...(BEHIND[kind.kind] ?? []),
]);
