/**
 * Report of one job as text: how it stands, what its deadline is made of, and how its parts stand.
 *
 * What of it comes from handlers is made printable here or by the tables.
 */

import type { JobView } from '../../machines/jobs/messages/client.ts';
import { DATACENTER_COLUMNS, WORKFLOW_COLUMNS } from './job-columns.ts';
import { deadlineText, isFinal, painted, progressText, reasonText } from './job-text.ts';
import { type Output, printable } from './output.ts';
import { printTable } from './table.ts';
import { durationText } from './time-text.ts';

export function printJob(job: JobView, output: Output): void {
  output.line(headline(job, output));
  for (const [name, text] of factsOf(job)) output.line(`  ${name.padEnd(11)}${printable(text)}`);
  const { datacenters = [], workflows } = job;
  if (datacenters.length > 0) {
    output.line();
    printTable(DATACENTER_COLUMNS, datacenters, output, '  ');
  }
  if (workflows.length === 0) return;
  output.line();
  printTable(WORKFLOW_COLUMNS, workflows, output, '  ');
}

function headline(job: JobView, output: Output): string {
  const reason = reasonText(job);
  const why = reason === '' ? '' : ` (${printable(reason)})`;
  return `${output.paint('bold', `job ${printable(job.jobId)}`)}: ${painted(job.status, output)}${why}`;
}

function factsOf(job: JobView): ReadonlyArray<readonly [name: string, text: string]> {
  const { shadow, enforce, queued, sinceProgressMs, leader, leaderFence } = job;
  const isOver = isFinal(job);
  const facts: Array<readonly [string, string]> = [
    ['done', progressText(job)],
    [isOver ? 'time' : 'deadline', deadlineText(job)],
  ];
  if (!isOver) facts.push(['progress', `${durationText(sinceProgressMs)} ago`]);
  if (!isOver && queued) facts.push(['queued', 'no worker has the handler and enough free cores']);
  if (!enforce) facts.push(['timeouts', 'are only watched']);
  if (shadow !== null)
    facts.push([
      'would have',
      `timed out (${shadow.reason}) after ${durationText(Math.max(0, shadow.atMs))}`,
    ]);
  facts.push(['led by', `${leader}, fence ${leaderFence}`]);
  return facts;
}
