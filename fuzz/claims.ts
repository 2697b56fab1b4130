/**
 * Frames of a peer that is what it has proved to be, and lies: about numbers that are raised by a node that
 * hears of a greater one, and about who and what it speaks of. The shape is always right.
 */

import type { Sample } from './corpus.ts';
import type { Dice } from './dice.ts';
import { type Numbering, tameFrame } from './mutations.ts';
import { BAITS, HONEST, VICTIMS } from './remit.ts';

type Fields = Record<string, unknown>;

export interface Liar {
  readonly node: string;
  readonly place: string;
}

/** On both sides of every bound: steps above small fences, the greatest fence, counts and exact numbers. */
const NUMBERS: readonly number[] = [
  ...[0, 1, 2, 3, 5, 50, 1_000, 9_999, 10_000, 10_001, 10_002, 10_003, 2 ** 31],
  ...[2 ** 40 - 1, 2 ** 40, 2 ** 40 + 1, 2 ** 48, 2 ** 48 + 1, 2 ** 53 - 2, 2 ** 53 - 1, -1],
];

const JOBS = [...VICTIMS, ...BAITS];
const NODES = [HONEST.worker, 'A.worker-0', 'A.manager-1', 'gate', 'gate-1', 'B0.manager-1'];
const PLACES = ['A', 'gate', 'B0', 'B1', HONEST.worker];
const WORKFLOWS = ['kept', 'absent', 'quick', 'long', 'failing'];

/** What may stand in a field, by its name: names of others. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  jobId: JOBS,
  workerId: NODES,
  managerId: NODES,
  by: NODES,
  datacenter: PLACES,
  gateId: ['gate', 'gate-0', 'gate-1', 'A'],
  workflowId: WORKFLOWS,
  attemptId: WORKFLOWS.flatMap((id) => [`${id}#1`, `${id}#2`]),
  operationId: JOBS.flatMap((job) => WORKFLOWS.map((id) => `${job}/${id}#1`)),
  status: ['completed', 'failed', 'timedOut', 'cancelled', 'running'],
  ackOf: ['timeout.declared', 'cancel.requested', 'progress.reported', 'final.reported'],
  reason: ['staleFence', 'notLeader', 'overall', 'stuck', 'jobFinal'],
};

export function lyingFrame(
  dice: Dice,
  samples: readonly Sample[],
  numbering: Numbering,
  liar: Liar,
): string {
  const share = dice.share();
  if (share < 0.004) return overstepping(dice, samples, numbering, liar);
  if (share < 0.03) return hello(liar.node, [[liar.node, dice.pick(NUMBERS)]]);
  if (share < 0.06) return receipts(dice, samples);
  if (share < 0.15) return tameFrame(dice, samples, numbering);
  const envelopes: Fields[] = [];
  for (let left = 1 + dice.below(4); left > 0; left -= 1) {
    const envelope = numbered(dice, structuredClone(dice.pick(samples).envelope), numbering);
    if (dice.isLucky(0.85)) lie(dice, envelope.event as Fields);
    if (dice.isLucky(0.5)) redirect(dice, envelope);
    envelopes.push(envelope);
  }
  return JSON.stringify({ v: 1, envelopes, receipts: [] });
}

/** What ends a session: the claims of others, in each of the ways in which one can be made. */
function overstepping(
  dice: Dice,
  samples: readonly Sample[],
  numbering: Numbering,
  liar: Liar,
): string {
  const fence = dice.pick(NUMBERS);
  const place = dice.pick(PLACES);
  const node = dice.pick(NODES);
  const envelope = numbered(dice, structuredClone(dice.pick(samples).envelope), numbering);
  if (dice.isLucky(0.4)) return hello(liar.node, [], [['A', fence, dice.isLucky(0.5)]]);
  return dice.pick([
    () => hello(liar.node, [], [[place, fence, dice.isLucky(0.5)]]),
    () => hello(liar.node, [[place, fence]]),
    () => hello(node, [[place, fence]], [[place, fence, true]]),
    () => {
      const job = dice.pick(JOBS);
      const from = dice.pick([`job/${job}@${place}`, `gate-job/${job}@gate`, `worker/1@${node}`]);
      return JSON.stringify({ v: 1, envelopes: [{ ...envelope, from }] });
    },
    () => {
      const event = { ...(envelope.event as Fields), replyTo: `ask/1@${place}` };
      return JSON.stringify({ v: 1, envelopes: [{ ...envelope, event }] });
    },
    () => {
      const job = dice.pick(JOBS);
      const receipt = { from: `gate-job/${job}@gate`, to: `job/${job}@A`, counter: fence };
      return JSON.stringify({ v: 1, receipts: [receipt] });
    },
  ])();
}

function hello(node: string, places: readonly unknown[], outranked?: readonly unknown[]): string {
  return JSON.stringify({ v: 1, hello: { node, places, isAsking: true, outranked } });
}

/** Receipts for messages that were sent to it, and of many that never were. */
function receipts(dice: Dice, samples: readonly Sample[]): string {
  const { from, to } = dice.pick(samples).envelope;
  if (String(from).includes(':')) return JSON.stringify({ v: 1, receipts: [] });
  const counter = Math.abs(dice.pick(NUMBERS));
  return JSON.stringify({ v: 1, receipts: [{ from: to, to: from, counter }] });
}

/** To the same kind of actor, about a job or a worker of somebody else. */
function redirect(dice: Dice, envelope: Fields): void {
  const job = dice.pick(JOBS);
  const change = (address: unknown): string =>
    String(address)
      .replace(/^((?:gate-)?job)\/[^@]*/, `$1/${job}`)
      .replace(/^workflow\/[^@]*/, `workflow/${job}/${dice.pick(WORKFLOWS)}`)
      .replace(/^worker-health\/[^@]*/, `worker-health/${dice.pick(NODES)}`);
  envelope.to = change(envelope.to);
  if (dice.isLucky(0.8) && !String(envelope.from).includes(':'))
    envelope.from = change(envelope.from);
  const event = envelope.event as Fields;
  if (dice.isLucky(0.8) && 'jobId' in event) event.jobId = job;
}

/** One field or two, maybe deeper inside, say something else of their kind. */
function lie(dice: Dice, event: Fields): void {
  const spots: Array<readonly [holder: Record<string, unknown>, key: string]> = [];
  const collect = (holder: Record<string, unknown>): void => {
    for (const [key, value] of Object.entries(holder)) {
      if (typeof value === 'object' && value !== null) collect(value as Record<string, unknown>);
      else if (key !== 'type' && key !== 'replyTo') spots.push([holder, key]);
    }
  };
  collect(event);
  if (spots.length === 0) return;
  for (let left = 1 + dice.below(2); left > 0; left -= 1) {
    const [holder, key] = dice.pick(spots);
    const names = NAMES[key];
    if (typeof holder[key] === 'number') holder[key] = dice.pick(NUMBERS);
    else if (typeof holder[key] === 'boolean') holder[key] = !holder[key];
    else if (names !== undefined) holder[key] = dice.pick(names);
  }
}

function numbered(dice: Dice, envelope: Fields, numbering: Numbering): Fields {
  if (envelope.counter === 0) return envelope;
  numbering.counter += 1;
  envelope.counter = numbering.counter;
  envelope.after = 0;
  // A counter out of reach is the end of what this sender can say.
  if (dice.isLucky(0.002)) envelope.counter = 2 ** 53 - 1;
  return envelope;
}
