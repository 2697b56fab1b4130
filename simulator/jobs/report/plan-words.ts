/**
 * A plan in words: its cluster, what is asked of it, what goes wrong, and what is not as usual.
 *
 * Guarantees: a line each, of bounded length; a plan that was shrunk is told whole.
 */

import { brief, count, length, moment, nodeName, short } from '../../explanation.ts';
import type { Plan, Step, Topology } from '../plan.ts';

/** Lines that a plan takes; beyond them the rest is counted. */
const LINES_MAX = 40;

/** What happens in order of time: steps and faults. */
export function planLines(plan: Plan): readonly string[] {
  const { steps, nemeses, healAtMs, untilMs } = plan;
  const all = [
    ...steps.map((step) => ({ atMs: step.atMs, text: stepWords(step) })),
    ...nemeses.map(({ id, kind, atMs, durMs, targets, params }) => ({
      atMs,
      text: short(
        `fault ${id} ${kind} ${targets.map(nodeName).join(', ')} for ${length(durMs)} ${brief(params)}`,
        200,
      ),
    })),
    ...(healAtMs === null || healAtMs > (untilMs ?? healAtMs)
      ? []
      : [{ atMs: healAtMs, text: 'all faults end' }]),
    ...(untilMs === null ? [] : [{ atMs: untilMs, text: 'the run ends' }]),
  ].sort((one, other) => one.atMs - other.atMs);
  const told = all
    .slice(0, LINES_MAX)
    .map(({ atMs, text }) => `T=${moment(atMs)}  ${text.trimEnd()}`);
  const more = all.length - told.length;
  return [clusterWords(plan.topology), ...told, ...(more > 0 ? [`… ${more} more`] : [])];
}

/** Noise, faults and options of a plan: `loss=0.01 nemeses=[clog] knobs: …`. */
export function swarmWords({
  network,
  nemeses,
  config,
  isDrawn,
  commitMs,
  bounds = {},
}: Plan): readonly string[] {
  const { delayMs, loss, duplicate, reorder } = network;
  const rates = Object.entries({ loss, dup: duplicate, reorder });
  const noise = `delay=${delayMs.join('–')}ms ${rates.map(([name, rate]) => `${name}=${roundedRate(rate)}`).join(' ')}`;
  const kinds = [...new Set(nemeses.map(({ kind }) => kind))];
  const ties = isDrawn === true ? ' ties=drawn' : '';
  const disks = commitMs === undefined ? '' : ` commit=${commitMs.join('–')}ms`;
  const knobs = Object.entries(config).map(([name, value]) => `${name}=${brief(value)}`);
  const tiny = Object.entries(bounds).map(([name, value]) => `${name}=${value}`);
  return [
    `${noise} nemeses=[${kinds.join(', ')}]${ties}${disks}`,
    short(`knobs: ${knobs.length === 0 ? 'defaults' : knobs.join(' ')}`, 600),
    ...(tiny.length === 0 ? [] : [short(`bounds: ${tiny.join(' ')}`, 900)]),
  ];
}

/** A rate as people read it; the plan has all its digits. */
function roundedRate(rate: number): number {
  return Number(rate.toPrecision(2));
}

function clusterWords({ gates, datacenters }: Topology): string {
  const each = Object.entries(datacenters).map(
    ([name, { managers, workers, cores }]) =>
      `${name} (${count(managers, 'manager')}, ${count(workers, 'worker')}${cores === undefined ? '' : `, ${cores} cores`})`,
  );
  return `cluster: ${[...(gates > 0 ? [count(gates, 'gate')] : []), ...each].join('; ')}`;
}

function stepWords(step: Step): string {
  if (step.do !== 'submit') {
    const { atMs: _, do: what, ...rest } = step;
    return short(`${what} ${wordsOf(rest)}`, 200);
  }
  const { jobId, to, timeoutMs, workflows, ...terms } = step.job;
  const works = workflows.map(({ id, ...script }) => `${id} ${brief(script, 60)}`.trim());
  return short(
    `submit ${jobId} to ${nodeName(to)}, timeout ${length(timeoutMs)}, ${count(workflows.length, 'workflow')}: ${works.join('; ')} ${brief(terms)}`,
    300,
  );
}

function wordsOf(values: object): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${brief(value)}`)
    .join(' ');
}
