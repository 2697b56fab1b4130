/** Report of an overload, in figures, and whether that is what was promised. */

import { type Client, isAccepted, type Load, type Sent } from './load.ts';
import type { OverloadOptions } from './options.ts';

export interface OverloadReport {
  readonly sent: number;
  readonly accepted: number;
  readonly done: number;
  readonly shed: number;
  /** Neither accepted nor shed: other answers, by status, and none. */
  readonly otherAnswers: Readonly<Record<string, number>>;
  /** Jobs per second of the client of the base load that were done in time. */
  readonly goodputBase: number;
  readonly goodputDuring: number;
  /** Within a minute: of the jobs submitted between 45 and 60 s after the overload, or the like. */
  readonly goodputAfter60s: number;
  /** Seconds after the overload from which on goodput stayed at 95 % of the base; null: never. */
  readonly recoveredAfterSeconds: number | null;
  /** Of what each client sent during the overload, how much was accepted, in percent. */
  readonly acceptedOfBaseClient: number;
  readonly acceptedOfFlood: number;
  /** Accepted jobs that never ended. */
  readonly lost: number;
  /** Jobs that were refused, and are there all the same. */
  readonly shedButThere: number;
  /** Refusals that do not say when to come again. */
  readonly shedWithoutRetryAfter: number;
  readonly answerMs: { readonly p50: number; readonly p99: number };
  readonly seconds: number;
  readonly hasHeld: boolean;
}

/** What is held: 95 of a hundred, as the base load had. */
const GOODPUT_SHARE = 0.95;

const rounded = (value: number): number => Math.round(value * 100) / 100;

export function reportOf(
  load: Load,
  options: OverloadOptions,
  { shedButThere, seconds }: { readonly shedButThere: number; readonly seconds: number },
): OverloadReport {
  const { baseSeconds, overloadSeconds, afterSeconds, patienceMs } = options;
  const { sent, overAt } = load;
  const ends = load.ends();
  const inTime = sent.filter(({ jobId, at }) => {
    const end = ends.get(jobId);
    return end?.status === 'completed' && end.at - at <= patienceMs;
  });
  const ofSteady = inTime.filter(({ client }) => client === 'steady');
  const goodput = (from: number, to: number): number =>
    rounded(ofSteady.filter(({ at }) => at >= from && at < to).length / ((to - from) / 1_000));
  const ofBase = ofSteady.filter(({ phase }) => phase === 'base').length;
  const goodputBase = rounded(ofBase / baseSeconds);
  const lateMs = Math.min(60, afterSeconds) * 1_000;
  const goodputAfter60s = goodput(overAt + lateMs * 0.75, overAt + lateMs);
  const shed = load.shed();
  const accepted = load.accepted();
  const others = sent.filter((job) => !shed.includes(job) && !isAccepted(job));
  const lost = accepted.filter(({ jobId }) => !ends.has(jobId)).length;
  const shedWithoutRetryAfter = shed.filter(({ retryAfter }) => !(Number(retryAfter) >= 1)).length;
  const isKept = lost + shedButThere + shedWithoutRetryAfter + others.length === 0;
  return {
    sent: sent.length,
    accepted: accepted.length,
    done: accepted.filter(({ jobId }) => ends.get(jobId)?.status === 'completed').length,
    shed: shed.length,
    otherAnswers: tallied(others.map(({ status }) => String(status))),
    goodputBase,
    goodputDuring: goodput(overAt - overloadSeconds * 1_000, overAt),
    goodputAfter60s,
    recoveredAfterSeconds: recoveryOf(ofSteady, overAt, options),
    acceptedOfBaseClient: acceptedOf('steady', sent),
    acceptedOfFlood: acceptedOf('flood', sent),
    lost,
    shedButThere,
    shedWithoutRetryAfter,
    answerMs: answerTimes(sent),
    seconds: rounded(seconds),
    hasHeld: isKept && shed.length > 0 && goodputAfter60s >= GOODPUT_SHARE * goodputBase,
  };
}

/** The first second after the overload from which on all were done in time, but one in twenty. */
function recoveryOf(
  inTime: readonly Sent[],
  overAt: number,
  { afterSeconds, basePerSecond }: OverloadOptions,
): number | null {
  const good = new Array<number>(afterSeconds).fill(0);
  for (const { phase, at } of inTime) {
    const second = Math.floor((at - overAt) / 1_000);
    if (phase === 'after' && second < afterSeconds) good[second] = (good[second] ?? 0) + 1;
  }
  const wanted = Math.floor(GOODPUT_SHARE * basePerSecond);
  // The last second is cut short.
  const bad = good.slice(0, -1).findLastIndex((count) => count < wanted);
  return bad >= good.length - 2 ? null : bad + 1;
}

function acceptedOf(client: Client, sent: readonly Sent[]): number {
  const own = sent.filter((job) => job.phase === 'during' && job.client === client);
  return rounded((100 * own.filter(isAccepted).length) / Math.max(1, own.length));
}

function answerTimes(sent: readonly Sent[]): OverloadReport['answerMs'] {
  const times = sent
    .filter(({ status }) => status !== 0)
    .map(({ at, answeredAt }) => answeredAt - at)
    .sort((one, other) => one - other);
  const atShare = (part: number): number => times[Math.floor(part * times.length)] ?? 0;
  return { p50: atShare(0.5), p99: atShare(0.99) };
}

function tallied(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
