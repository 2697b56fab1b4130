/** Filter of lists by properties of jobs that no index knows: read from the view of each. */

import type { JobsAsked, JobView } from '../../../machines/jobs/messages/client.ts';

export function isAskedFor(view: JobView, { stuckForMs, deadlineBeforeMs }: JobsAsked): boolean {
  if (stuckForMs !== undefined && view.sinceProgressMs <= stuckForMs) return false;
  if (deadlineBeforeMs === undefined) return true;
  return view.dueInMs !== null && view.dueInMs < deadlineBeforeMs;
}
