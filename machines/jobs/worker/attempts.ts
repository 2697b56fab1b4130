/**
 * Attempts that a worker holds, and the sums it does with them. The statechart is in worker.ts.
 *
 * An attempt is held from its dispatch until nobody waits for its result any more, and takes up
 * cores until its handler is over. What was held is remembered a while, so that a dispatch that
 * comes late is not run a second time.
 */

import { knob } from '../../../runtime/base/knob.ts';
import { Table } from '../../../runtime/machine.ts';
import { operationParts } from '../addresses.ts';
import {
  type AttemptReport,
  isWithin,
  type KeyRange,
  PAGE_ENTRIES_MAX,
} from '../messages/fields.ts';
import type {
  DispatchRefusal,
  DispatchRequested,
  HeartbeatReceived,
  LeaderAnnounced,
} from '../messages/worker.ts';

export interface HeldAttempt {
  /** 0 once its handler is over. */
  readonly cores: number;
  /** Term of the leader that dispatched it. */
  readonly term: number;
  readonly isFinished: boolean;
}

/** Attempts by operation id. */
export type HeldAttempts = Table<HeldAttempt>;

/** Figures of an attempt's progress that the process knows. */
export type ProgressFigures = Pick<
  AttemptReport,
  'progress' | 'completedItems' | 'totalItems' | 'sinceProgressMs'
>;

/** Progress by operation id; an attempt that has not begun may be missing. */
export type ProgressByOperation = Readonly<Record<string, ProgressFigures>>;

/** An announcement of which not every page has come. */
export interface Announcement {
  readonly term: number;
  readonly pages: number;
  readonly pagesHeard: readonly number[];
  readonly listed: readonly string[];
  readonly isWhole: boolean;
}

/** Attempts in one page of a heartbeat. */
const HEARTBEAT_ENTRIES = knob('heartbeatEntries', PAGE_ENTRIES_MAX);
/** Attempts that a heartbeat lists whether or not they got further: of more, the next one lists the next. */
const HEARTBEAT_LIST_MAX = knob('heartbeatListMax', 100);
/** Attempts held at once; more are refused. Those that run are bounded by the cores. */
const ATTEMPTS_MAX = knob('attemptsHeldMax', 4_096);
/** Attempts remembered after they are over; up to twice as many are. */
const PAST_MAX = knob('attemptsRememberedMax', 256);

const NOTHING_HEARD = { pagesHeard: [], listed: [] } as const;
const NO_PROGRESS: ProgressFigures = { progress: 0, sinceProgressMs: 0 };

/** View of a worker by which a dispatch is judged. */
export interface DispatchView {
  readonly datacenter: string;
  readonly term: number;
  readonly coresTotal: number;
  readonly handlers: readonly string[];
  readonly attempts: HeldAttempts;
  readonly coresHeld: number;
  readonly past: Past;
  readonly pastBefore: Past;
  readonly unseen: readonly string[];
}

/** `known`: it was taken before, and is answered as it was then. */
export function judgeDispatch(
  view: DispatchView,
  asked: DispatchRequested,
): 'new' | 'known' | DispatchRefusal {
  const operationId = `${asked.jobId}/${asked.attemptId}`;
  if (asked.term < view.term) return 'staleTerm';
  if (view.attempts.has(operationId) || isPast(view, operationId)) return 'known';
  if (asked.datacenter !== view.datacenter || view.unseen.includes(operationId)) return 'refused';
  if (!view.handlers.includes(asked.handler)) return 'unknownHandler';
  if (asked.cores > view.coresTotal - view.coresHeld) return 'noCores';
  return view.attempts.size < ATTEMPTS_MAX.value ? 'new' : 'refused';
}

/** Operation ids of attempts that are over. */
export type Past = Table<true>;

type BothPasts = Pick<DispatchView, 'past' | 'pastBefore'>;

export const isPast = ({ past, pastBefore }: BothPasts, operationId: string): boolean =>
  past.has(operationId) || pastBefore.has(operationId);

/** The past with one more; what is full takes the place of the one before it, so that nothing long is written again. */
export function withPast(pasts: BothPasts, operationId: string): BothPasts {
  if (isPast(pasts, operationId)) return pasts;
  const past = pasts.past.with(operationId, true);
  const isFull = past.size >= PAST_MAX.value;
  return isFull ? { past: Table.of(), pastBefore: past } : { past, pastBefore: pasts.pastBefore };
}

/** The last ones of a list, with one more. */
export function remembered(list: readonly string[], operationId: string): readonly string[] {
  return list.includes(operationId) ? list : [...list, operationId].slice(-PAST_MAX.value);
}

const ALL: KeyRange = { from: '', to: null };

/** Range of attempts that a heartbeat lists when the one before went up to `from`: all, where they are few. */
export function rangeFrom(attempts: HeldAttempts, from: string): KeyRange {
  if (attempts.size <= HEARTBEAT_LIST_MAX.value) return ALL;
  let left = HEARTBEAT_LIST_MAX.value;
  for (const [to] of attempts.entries(from)) {
    if (left === 0) return { from, to };
    left -= 1;
  }
  return { from, to: null };
}

/** Reports of the worker on the attempts of a range, and on the others of which something is known now. */
export function reportsOf(
  attempts: HeldAttempts,
  known: ProgressByOperation,
  range: KeyRange = ALL,
): AttemptReport[] {
  const reports: AttemptReport[] = [];
  for (const [operationId, held] of attempts.entries(range.from)) {
    if (!isWithin(range, operationId)) break;
    reports.push(reportOf(operationId, held, known));
  }
  for (const operationId of Object.keys(known)) {
    const held = isWithin(range, operationId) ? undefined : attempts.get(operationId);
    if (held !== undefined) reports.push(reportOf(operationId, held, known));
  }
  return reports;
}

const reportOf = (
  operationId: string,
  { isFinished }: HeldAttempt,
  known: ProgressByOperation,
): AttemptReport => ({
  ...operationParts(operationId),
  ...(known[operationId] ?? NO_PROGRESS),
  finished: isFinished,
});

/** At least one page, also of nothing. */
export function pagesOf(
  reports: readonly AttemptReport[],
): Array<Pick<HeartbeatReceived, 'attempts' | 'page' | 'pages'>> {
  const pages = Math.max(1, Math.ceil(reports.length / HEARTBEAT_ENTRIES.value));
  return Array.from({ length: pages }, (_, index) => ({
    attempts: reports.slice(index * HEARTBEAT_ENTRIES.value, (index + 1) * HEARTBEAT_ENTRIES.value),
    page: index + 1,
    pages,
  }));
}

/** An announcement with one more page; the same object when it has nothing new to say. */
export function withPage(
  announcement: Announcement | null,
  { term, page, pages, attempts }: LeaderAnnounced,
): Announcement {
  const isSame = announcement?.term === term;
  if (isSame && (announcement.isWhole || isHeard(announcement, pages, page))) return announcement;
  // A list that was made again has other pages: those of the one before say nothing about it.
  const begun = isSame && announcement.pages === pages ? announcement : NOTHING_HEARD;
  const pagesHeard = [...begun.pagesHeard, page];
  const isWhole = pagesHeard.length >= pages;
  return { term, pages, pagesHeard, listed: [...begun.listed, ...attempts], isWhole };
}

function isHeard(announcement: Announcement, pages: number, page: number): boolean {
  return announcement.pages === pages && announcement.pagesHeard.includes(page);
}

/** Attempts of earlier leaders that an announcement leaves out. */
export function unlisted(
  attempts: HeldAttempts,
  { term, listed }: Announcement,
): readonly string[] {
  const isListed = new Set(listed);
  return [...attempts]
    .filter(([operationId, attempt]) => attempt.term < term && !isListed.has(operationId))
    .map(([operationId]) => operationId);
}
