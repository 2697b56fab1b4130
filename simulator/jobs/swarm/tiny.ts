/**
 * Bounds drawn tiny: every limit of the product at which something happens, crossed in seconds.
 *
 * Each is drawn on its own, and about half of them in a run: boundaries that are crossed together show
 * what a single one does not. The values are the least at which the system still has to keep all it
 * promises. Limits that are not here are in UNDRAWN with the reason; a test holds the two complete.
 */

import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import type { Bounds } from '../../simulation.ts';
import type { Chance } from '../../world.ts';

/** Values that may be drawn for each bound. */
export const TINY: Readonly<Record<string, readonly number[]>> = {
  'limit.mailboxMax': [3, 8],
  // While a disk stands still a pool says something to each of its workflows several times.
  'limit.outboxMax': [200],
  'limit.sendersMax': [40],
  'limit.liveActorsMax': [1, 2],
  'limit.groupTurnsMax': [1, 2],
  'limit.sliceMs': [1],
  'limit.drainMs': [1],
  // A jobs service asks a job for each of its clients: with fewer, that question is refused.
  'limit.questionsMax': [3, 6],
  'disk.historyMax': [1, 2],
  'knob.frameLength': [1, 200],
  'knob.placesRemembered': [1, 2],
  'knob.underWayMax': [1, 2],
  'knob.burst': [1, 2],
  'knob.inboxWindowMax': [1, 2],
  'knob.stepsRememberedMax': [0, 1],
  'knob.configurationsMax': [1, 2],
  'knob.jointPlansMax': [0, 1],
  'knob.candidatesMax': [0, 1],
  'knob.restoredValuesMax': [0, 1],
  'knob.tableInlineRowsMax': [0, 1],
  'knob.tableInlineLengthMax': [0, 30],
  'knob.largeGroupTurns': [1, 2],
  'knob.dueAtOnce': [1, 2],
  'knob.turnsAheadMax': [1, 2],
  'knob.marksKept': [0, 1],
  'knob.quitsMax': [1, 2],
  'knob.marksSweptMin': [1, 2],
  'knob.timerStepsPerWakeMax': [1, 2],
  'knob.timersCompactedMin': [0, 1],
  'knob.jobLateEventsMax': [1, 2],
  'knob.workflowsPerRow': [1, 2],
  'knob.workflowsUnheardMax': [1, 2],
  'knob.creditIdsMax': [1, 2],
  'knob.operatorCreditsMax': [1, 2],
  'knob.gateLateEventsMax': [1, 2],
  'knob.detailNamesMax': [1],
  'knob.gateResultsCharactersMax': [1, 200],
  'knob.attemptsHeldMax': [1, 2],
  'knob.attemptsRememberedMax': [1, 2],
  'knob.announcedAttemptsPerPage': [1, 2],
  'knob.attemptAnswerPauseMs': [1, 2],
  'knob.grantAnswersMax': [1, 2],
  'knob.workflowCancelsMax': [1],
  'knob.heartbeatEntries': [1, 2],
  'knob.heartbeatListMax': [1, 2],
  'knob.submissionPartEntries': [1, 2],
  'knob.submissionPartLengthMax': [1, 200],
  'knob.submissionPartsUnderWayMax': [1],
  'knob.submissionsUnfinishedMax': [1, 2],
  'knob.submissionAnswersKept': [8, 64],
  'knob.managerJobsAtOnce': [1, 2],
  'knob.managerRowsPerPageMax': [1, 2],
  'knob.workflowsPerView': [1, 2],
  'knob.viewLengthMax': [1, 200],
  'knob.storeRowsLookedAt': [1, 2],
  'knob.rowsPerQuery': [1, 2],
  'knob.gatePagesKeptAtOnce': [1],
  'knob.workflowBytesBornAtOnce': [1],
  'knob.workflowBytesBornWithJob': [1],
  'knob.lengthMeasuredAtOnce': [1],
  'knob.sliceWeight': [1, 30],
  'knob.jobsObservedMax': [1],
  'knob.paceEndsMax': [1, 2],
  'knob.jobsRecountedAtOnce': [1],
  'knob.waitingRowsAtOnce': [1, 2],
  'knob.poolWithdrawnMax': [1, 2],
  'knob.waitingCountedMax': [1, 2],
  'knob.clientScansAtOnce': [1],
  'knob.inboxShare': [1, 2],
  // No shorter than anybody goes on sending what is not answered.
  'knob.sessionSilentMs': [30_000],
  'disk.wholeGroups': [1],
};

/** The same for options of the jobs system. */
export const TINY_OPTIONS: Partial<Readonly<Record<keyof JobsConfiguration, readonly number[]>>> = {
  queueMax: [1, 2, 4],
  readyMax: [1, 2],
  backlogWorkflowsMax: [2, 20],
  backlogFreeWorkflows: [0, 2],
  dependenciesMax: [0, 2],
};

const TINY_PROBABILITY = 0.5;

export const drawTiny = (chance: Chance): Bounds => drawFrom(TINY, chance);

export const drawTinyOptions = (chance: Chance): Partial<JobsConfiguration> =>
  drawFrom(TINY_OPTIONS, chance);

function drawFrom(
  all: Readonly<Record<string, readonly number[]>>,
  chance: Chance,
): Readonly<Record<string, number>> {
  const drawn: Record<string, number> = {};
  for (const [name, values] of Object.entries(all)) {
    // Drawn for each, tiny or not: one more bound then moves only those after it.
    const isTiny = chance.is(TINY_PROBABILITY);
    const value = chance.pick(values);
    if (isTiny) drawn[name] = value;
  }
  return drawn;
}
