/**
 * Door of `explanation/`: a run in words: records, causes, and where two runs part.
 */

export { type Because, because, type Link } from './explanation/because.ts';
export { historyLines, windowAround } from './explanation/history-lines.ts';
export { type Parting, type PassingRun, partingLines, partingOf } from './explanation/parting.ts';
export { lineOf, tell } from './explanation/record-words.ts';
export type { Subjects } from './explanation/subjects.ts';
export { brief, count, length, moment, nodeName, short } from './explanation/words.ts';
