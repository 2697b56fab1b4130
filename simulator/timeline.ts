/**
 * Door of `timeline/`: the page that shows a failure.
 */

export type { ShownRun } from './timeline/records.ts';
export { timeline } from './timeline/timeline.ts';
