/**
 * Door of `explanation/`: a run in words: records, causes, and where two runs part.
 */

export { type Because, because } from './explanation/because.ts';
export type { TurnRecord } from './explanation/causes.ts';
export { historyLines, windowAround } from './explanation/history-lines.ts';
export { type PassingRun, partingLines, partingOf } from './explanation/parting.ts';
export { deadlineOf, lineOf, tell, timerName } from './explanation/record-words.ts';
export type { Subjects } from './explanation/subjects.ts';
export { brief, count, length, moment, nodeName, short, stateName } from './explanation/words.ts';
