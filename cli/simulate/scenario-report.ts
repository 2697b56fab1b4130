/**
 * Report of a scenario as text: the verdict first, then what is not as it should be, then the outcome
 * of each job and worker.
 *
 * Names come from files, so everything is made printable here.
 */

import type { Violation } from '../../simulator/invariants.ts';
import type {
  DatacenterEnd,
  GateEnd,
  ScenarioResult,
  WorkerEnd,
  WorkflowEnd,
} from '../../simulator/jobs/scenario/result.ts';
import { toShownName } from '../../simulator/jobs.ts';
import { counted, type Output, printable } from '../render/output.ts';

export function holds({ failures, violations }: ScenarioResult): boolean {
  return failures.length === 0 && violations.length === 0;
}

/** One scenario, with everything that came of it. */
export function printReport(result: ScenarioResult, output: Output): void {
  const { name, seed, endedAtMs, turns, traceHash, jobs, workers, counters } = result;
  output.line(`${verdict(result, output)}: ${printable(name)}`);
  output.line(
    `seed ${seed}, ${shownTime(endedAtMs)} simulated, ${counted(turns, 'turn')}, trace ${traceHash}`,
  );
  printFindings(result, '', output);
  for (const [jobId, { gate, datacenters }] of Object.entries(jobs)) {
    output.line();
    output.line(output.paint('bold', `job ${printable(jobId)}`));
    if (gate !== null) output.line(`  ${column('gate')}${gateText(gate)}`);
    for (const [datacenter, end] of Object.entries(datacenters))
      printDatacenter(datacenter, end, output);
    if (gate === null && Object.keys(datacenters).length === 0) output.line('  nobody knows it');
  }
  output.line();
  output.line(output.paint('bold', 'workers'));
  for (const [worker, end] of Object.entries(workers))
    output.line(`  ${column(worker)}${workerText(end)}`);
  const moved = Object.entries(counters).filter(([, count]) => count > 0);
  if (moved.length === 0) return;
  output.line();
  output.line(output.paint('bold', 'counters'));
  for (const [counter, count] of moved) output.line(`  ${column(counter)}${count}`);
}

/** One of many. `undefined`: the file is no scenario. */
export function printLine(file: string, result: ScenarioResult | undefined, output: Output): void {
  if (result === undefined) {
    output.line(`${output.paint('red', 'INVALID')}  ${printable(file)}`);
    return;
  }
  output.line(
    `${verdict(result, output).padEnd(7)}  ${printable(file)}: ${printable(result.name)}`,
  );
  printFindings(result, '         ', output);
}

export function printSummary(
  results: readonly ScenarioResult[],
  invalid: number,
  output: Output,
): void {
  const held = results.filter(holds).length;
  const parts = [`${held} held`];
  if (held < results.length) parts.push(`${results.length - held} did not`);
  if (invalid > 0) parts.push(`${invalid} could not be played`);
  output.line(`${counted(results.length + invalid, 'scenario')}: ${parts.join(', ')}.`);
}

function verdict(result: ScenarioResult, output: Output): string {
  return holds(result) ? output.paint('green', 'HOLDS') : output.paint('red', 'FAILS');
}

function printFindings({ failures, violations }: ScenarioResult, indent: string, output: Output) {
  for (const failure of failures)
    output.line(`${indent}${output.paint('red', 'failed')}  ${printable(failure)}`);
  for (const violation of violations)
    output.line(`${indent}${output.paint('red', 'broken')}  ${violationText(violation)}`);
}

function violationText({ invariant, says, what, atMs, node }: Violation): string {
  const where = node === '' ? '' : ` on ${printable(toShownName(node))}`;
  return `${invariant} at ${shownTime(atMs)}${where}: ${printable(what)} (${printable(says)})`;
}

function gateText({ status, reason, atMs, decisions, withdrawn, unconfirmed }: GateEnd): string {
  const parts = [ended(status, reason, atMs)];
  if (decisions > 0) parts.push(counted(decisions, 'decision'));
  if (withdrawn > 0) parts.push(`${withdrawn} withdrawn`);
  if (unconfirmed.length > 0) parts.push(`presumed of ${unconfirmed.join(', ')}`);
  return parts.join(', ');
}

function printDatacenter(datacenter: string, end: DatacenterEnd, output: Output): void {
  const { status, reason, gateReason, localReason, atMs, reportedAtMs } = end;
  const parts = [ended(status, gateReason === null ? reason : `${reason}: ${gateReason}`, atMs)];
  if (reportedAtMs !== null) parts.push(`${localReason} reported at ${shownTime(reportedAtMs)}`);
  if (end.extensionsMs > 0) parts.push(`extended by ${shownTime(end.extensionsMs)}`);
  parts.push(`led by ${printable(end.leader)}`, `fence ${end.leaderFence}`);
  if (end.lateEvents > 0) parts.push(counted(end.lateEvents, 'late event'));
  output.line(`  ${column(datacenter)}${parts.join(', ')}`);
  for (const [id, workflow] of Object.entries(end.workflows))
    output.line(`    ${column(id, 18)}${workflowText(workflow)}`);
}

function workflowText({ state, attempts, atMs }: WorkflowEnd): string {
  return `${ended(state, null, atMs)}, ${counted(attempts, 'attempt')}`;
}

function workerText({ health, extensions, extendedMs, denials, lastDenial }: WorkerEnd): string {
  const parts = [health ?? 'never registered'];
  if (extensions > 0) parts.push(`${counted(extensions, 'extension')} of ${shownTime(extendedMs)}`);
  if (denials > 0) parts.push(`${counted(denials, 'denial')}, the last one ${lastDenial}`);
  return parts.join(', ');
}

function ended(status: string, reason: string | null, atMs: number | null): string {
  const why = reason === null ? '' : ` (${reason})`;
  return `${status}${why}${atMs === null ? '' : ` at ${shownTime(atMs)}`}`;
}

function column(text: string, width = 20): string {
  return `${printable(text).padEnd(width - 1)} `;
}

/** `2m 10.12s`: seconds with as many digits as there are. */
function shownTime(ms: number): string {
  const minutes = Math.floor(Math.abs(ms) / 60_000);
  const seconds = `${Number(((Math.abs(ms) % 60_000) / 1_000).toFixed(3))}s`;
  const sign = ms < 0 ? '-' : '';
  if (minutes === 0) return `${sign}${seconds}`;
  const hours = Math.floor(minutes / 60);
  const whole = hours === 0 ? `${minutes}m` : `${hours}h ${minutes % 60}m`;
  return seconds === '0s' ? `${sign}${whole}` : `${sign}${whole} ${seconds}`;
}
