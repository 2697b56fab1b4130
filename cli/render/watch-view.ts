/**
 * View of a watched job on its way: a bar with a countdown where somebody sits before a terminal, a line
 * for each change elsewhere.
 */

import type { JobView } from '../../machines/jobs/messages/client.ts';
import type { Connection } from '../api/connection.ts';
import { watchJob } from '../api/watch.ts';
import { isFinal, painted, progressText } from './job-text.ts';
import { grouped, type Output, printable } from './output.ts';
import { dueText, momentText } from './time-text.ts';

const REDRAWN_MS = 250;
const BAR_WIDTH = 24;

/** Resolves with the whole job once it has ended. @throws {CommandFailure} */
export async function watchAloud(
  connection: Connection,
  jobId: string,
  output: Output,
  { isQuiet }: { /** Standard output is for JSON. */ readonly isQuiet: boolean },
): Promise<JobView> {
  let seen: { readonly job: JobView; readonly at: number } | undefined;
  let lost: string | undefined;
  let told = '';
  let drawn: string | undefined;
  const draw = (): void => {
    let text: string | undefined;
    if (lost !== undefined) text = `${lost} Trying again…`;
    else if (seen !== undefined) text = barText(seen.job, performance.now() - seen.at, BAR_WIDTH);
    if (text === drawn) return;
    drawn = text;
    output.progress(text);
  };
  const redrawing = output.showsProgress ? setInterval(draw, REDRAWN_MS) : undefined;
  try {
    return await watchJob(connection, jobId, {
      onView: (job) => {
        seen = { job, at: performance.now() };
        lost = undefined;
        draw();
        const line = figuresText(job);
        if (isQuiet || output.showsProgress || line === told) return;
        told = line;
        output.line(`${momentText(Date.now())}  ${painted(job.status, output)}  ${lineText(job)}`);
      },
      onLost: (why) => {
        // Once for each loss, not for each try.
        if (lost === undefined && !output.showsProgress)
          output.complain(`${printable(why)} Trying again.\n`);
        lost = printable(why);
        draw();
      },
    });
  } finally {
    clearInterval(redrawing);
    output.progress(undefined);
  }
}

/** Figures that have to differ for a line of its own: time passes by itself. */
function figuresText(job: JobView): string {
  return `${job.status} ${progressText(job)} ${job.extensionsMs}`;
}

function lineText(job: JobView): string {
  const due = isFinal(job) ? '' : `, due ${dueText(job.dueInMs)}`;
  return `${progressText(job)}${due}`;
}

/** `sinceMs`: how long ago the job was seen like this. */
export function barText(job: JobView, sinceMs: number, width: number): string {
  const { workflowsCompleted: done, workflowsFailed: failed, workflowsTotal: total } = job;
  const share = total === 0 ? 0 : Math.min(1, done / total);
  const full = Math.floor(share * width);
  const bar = '█'.repeat(full) + '░'.repeat(width - full);
  const parts = [`${bar} ${grouped(done)}/${grouped(total)}`, job.status];
  if (failed > 0) parts.push(`${grouped(failed)} failed`);
  if (job.queued && !isFinal(job)) parts.push('queued');
  if (job.dueInMs !== null) parts.push(`due ${dueText(Math.max(0, job.dueInMs - sinceMs))}`);
  return parts.join('  ');
}
