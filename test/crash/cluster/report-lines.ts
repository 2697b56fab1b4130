/** The report of the cluster's crash rig, for people. */

import type { ClusterRigReport } from './cluster-cycles.ts';

const EXAMPLES = 5;

export function describeCluster(report: ClusterRigReport): string {
  const { cycles, seed, seconds, killed, takeoverMs, restartMs, byOutcome } = report;
  const listed = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(', ');
  const { lost, unfinished, changed, wrong, fences, refused, unwanted } = report;
  const findings = { lost, unfinished, changed, wrong, fences, refused, unwanted };
  const lines = [
    `${report.hasHeld ? 'HELD' : 'FAIL'}  ${cycles} kills, seed ${seed}, ${seconds} s: ${listed(killed)}`,
    `${report.accepted} of ${report.submitted} jobs accepted, ${report.ended} ended: ${listed(byOutcome)}`,
    Object.entries(findings)
      .map(([name, list]) => `${name} ${list.length}`)
      .join(', '),
    `takeover by a standby ms p50 ${takeoverMs.p50}, p99 ${takeoverMs.p99}, max ${takeoverMs.max} (${takeoverMs.count})`,
    `by a restart ms p50 ${restartMs.p50}, p99 ${restartMs.p99}, max ${restartMs.max} (${restartMs.count})`,
    ...Object.values(findings).flatMap((list) => list.slice(0, EXAMPLES)),
  ];
  return `${lines.join('\n')}\n`;
}
