/**
 * A broken invariant as lines of a recording: the run in which it broke, in words too, what led there, and the nearest
 * run that holds.
 *
 * Guarantees: bounded, however long the run was. What lies around the violation is there, and it is said how much
 * was left out. Contexts are left out where they make it too large.
 */

import type { AnyStateMachine } from 'xstate';
import {
  type Because,
  type Link,
  type Parting,
  partingLines,
  tell,
  windowAround,
} from '../../simulator/explanation.ts';
import type { HistoryRecord } from '../../simulator/history.ts';
import type { Violation } from '../../simulator/invariants.ts';
import type { CauseLine, RecordedHeader, RecordedLine } from '../protocol.ts';
import { OWN_KINDS, withDefinitions } from './own-kinds.ts';
import { factsOf, headerOf, type SimulatedRun, type Window } from './simulated.ts';

export interface BrokenRun {
  readonly title: string;
  readonly run: SimulatedRun;
  readonly violation: Violation;
  readonly why: Because;
  readonly passing?: {
    readonly run: SimulatedRun;
    readonly change: string;
    readonly parting: Parting | undefined;
  };
  /** How to play it again. */
  readonly replay: string;
  readonly machines?: Readonly<Record<string, AnyStateMachine>>;
}

export interface FailureLimits {
  readonly recordsMax: number;
  readonly bytesMax: number;
}

const LIMITS: FailureLimits = { recordsMax: 25_000, bytesMax: 24 * 1_048_576 };

export function linesOfFailure(
  broken: BrokenRun,
  { recordsMax, bytesMax }: FailureLimits = LIMITS,
): Array<RecordedHeader | RecordedLine> {
  const lines = linesWithin(broken, recordsMax);
  const bytes = lines.reduce((sum, line) => sum + JSON.stringify(line).length, 0);
  return bytes <= bytesMax || recordsMax < 10
    ? lines
    : linesOfFailure(broken, { recordsMax: Math.floor(recordsMax / 2), bytesMax });
}

function linesWithin(
  { title, run, violation, why, passing, replay, machines = OWN_KINDS }: BrokenRun,
  recordsMax: number,
): Array<RecordedHeader | RecordedLine> {
  const { invariant, says, what, atMs, node, record } = violation;
  const at = run.zero + atMs;
  const causes = why.links.map((link) => causeOf(link, run));
  const addresses = [...new Set(causes.flatMap(({ address }) => address ?? []))];
  const failure = { invariant, says, what, why: causes, addresses, replay };
  return withDefinitions(
    [
      headerOf(title, run),
      ...linesAround(run, record, recordsMax),
      { type: 'failure', at, node, failure },
      ...(passing === undefined ? [] : [otherOf(passing, recordsMax)]),
    ],
    machines,
  );
}

function otherOf(
  { run, change, parting }: NonNullable<BrokenRun['passing']>,
  recordsMax: number,
): RecordedLine {
  const { index = null, atMs } = parting?.passing ?? {};
  const lines = linesAround(run, index, recordsMax / 2).map((line): RecordedLine => {
    if (line.type !== 'turn') return line;
    const { context: _, patch: __, ...rest } = line;
    return rest;
  });
  const other = {
    change,
    parts: parting === undefined ? [] : partingLines(parting),
    ...(atMs !== undefined && { partsAt: run.zero + atMs }),
    lines,
  };
  return { type: 'other', at: run.zero, node: '', other };
}

/** What lies around a record, as facts and in words, and how much is missing. */
function linesAround(run: SimulatedRun, index: number | null, recordsMax: number): RecordedLine[] {
  const told = run.records.filter(isTold);
  const at = index === null ? null : told.findIndex((record) => record.index >= index);
  const { start, end } = windowAround(told.length, at === -1 ? null : at, Math.floor(recordsMax));
  const shown = told.slice(start, end);
  const window: Window = {
    first: start === 0 ? 0 : (shown[0]?.index ?? 0),
    last: end === told.length ? Number.POSITIVE_INFINITY : (shown.at(-1)?.index ?? 0),
  };
  const count = told.length - shown.length;
  return [
    ...(count === 0
      ? []
      : [{ type: 'skipped', at: run.zero, node: '', count } satisfies RecordedLine]),
    ...factsOf(run, window),
    ...shown.map((record) => wordsOf(record, run.zero)),
  ];
}

/** Frames that arrived and groups that were written show as what they carried. */
function isTold(record: HistoryRecord): boolean {
  if (record.type === 'timers' || record.type === 'sent') return false;
  if (record.type === 'commit') return record.change !== 'settled';
  if (record.type === 'frame') return record.change !== 'sent' && record.change !== 'delivered';
  return true;
}

function wordsOf(record: HistoryRecord, zero: number): RecordedLine {
  const { index, atMs, node } = record;
  return {
    type: 'told',
    at: zero + atMs,
    node,
    index,
    text: tell(record),
    ...(record.type === 'turn' && { address: record.address, turn: record.turn }),
  };
}

function causeOf(
  { record, atMs, node, what, isInner }: Link,
  { records, zero }: SimulatedRun,
): CauseLine {
  const about = record === null ? undefined : records[record];
  return {
    at: zero + atMs,
    node,
    what,
    ...(isInner && { isInner }),
    ...(about?.type === 'turn' && { address: about.address, turn: about.turn }),
  };
}
