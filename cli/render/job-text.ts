/**
 * Jobs in words and colours, the same in every command.
 *
 * What comes from data and stands alone is made printable here; cells of tables are by the table.
 */

import type { JobView } from '../../machines/jobs/messages/client.ts';
import { counted, grouped, type Output, printable } from './output.ts';
import { dueText, durationText } from './time-text.ts';

type Colour = 'green' | 'red' | 'yellow' | 'cyan' | 'dim';

const COLOURS: Readonly<Record<string, Colour>> = {
  submitted: 'dim',
  pending: 'dim',
  unheard: 'dim',
  running: 'cyan',
  completed: 'green',
  aggregated: 'green',
  healthy: 'green',
  failed: 'red',
  timedOut: 'red',
  exhausted: 'red',
  evicted: 'red',
  cancelled: 'yellow',
  reported: 'yellow',
  full: 'yellow',
  silent: 'yellow',
  suspect: 'yellow',
  extended: 'yellow',
};

/** Colour of a job, a workflow, a datacenter or a worker; undefined for what nobody has heard of yet. */
export function colourOf(status: string): Colour | undefined {
  return Object.hasOwn(COLOURS, status) ? COLOURS[status] : undefined;
}

export function painted(status: string, output: Output): string {
  const colour = colourOf(status);
  return colour === undefined ? printable(status) : output.paint(colour, printable(status));
}

export function isFinal({ status }: JobView): boolean {
  return status !== 'submitted' && status !== 'running';
}

/** `3 of 10 workflows`, and how many of them have failed. */
export function progressText({
  workflowsCompleted,
  workflowsFailed,
  workflowsTotal,
}: JobView): string {
  const failed = workflowsFailed > 0 ? `, ${grouped(workflowsFailed)} failed` : '';
  return `${grouped(workflowsCompleted)} of ${counted(workflowsTotal, 'workflow')}${failed}`;
}

/** Reason for which it ended, or what is known of why it will. */
export function reasonText({ reason, gateReason, localReason }: JobView): string {
  const [first, ...others] = new Set(
    [reason, gateReason, localReason].filter((one) => one !== null),
  );
  return first === undefined ? '' : [first, ...others].join(', ');
}

/** `5m budget + 2m added - 1m elapsed`: what the deadline is made of. */
export function deadlineText({ timeoutMs, extensionsMs, elapsedMs, dueInMs }: JobView): string {
  const added = extensionsMs > 0 ? ` + ${durationText(extensionsMs)} added` : '';
  const budget = `${durationText(timeoutMs)} budget${added}`;
  if (dueInMs === null) return `took ${durationText(elapsedMs)} of ${budget}`;
  return `${budget} - ${durationText(elapsedMs)} elapsed = due ${dueText(dueInMs)}`;
}
