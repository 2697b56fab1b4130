/**
 * Explanation of a broken invariant, in words: from where it was seen back along causes, told from the
 * beginning.
 *
 * Guarantees: at most as many lines as asked for; where there are more the middle is left out and
 * counted. The last refusal of what its actors had sent is among them, where nothing was sent again. Between a cause and its effect stands what befell the message and the nodes of the two. It
 * says what came of what by the history alone, and knows nothing of what any of it should mean.
 */

import { placeOf } from '../../runtime/base/address.ts';
import type { HistoryRecord } from '../history.ts';
import type { RunFacts, Violation } from '../invariants.ts';
import { type Cause, Causes, type FrameRecord, type SentRecord } from './causes.ts';
import { tell } from './record-words.ts';
import { lastRefusal } from './refusals.ts';
import type { Subjects } from './subjects.ts';
import { moment, nodeName, short } from './words.ts';

export interface Because {
  readonly lines: readonly string[];
  /** The records told of, in order. */
  readonly records: readonly number[];
  /** The same in parts, with the record that a line is about; null for those left out. */
  readonly links: readonly Link[];
}

export interface Link {
  readonly record: number | null;
  /** True time since zero. */
  readonly atMs: number;
  readonly at: string;
  readonly node: string;
  readonly what: string;
  /** It befell a message or a node between a cause and its effect. */
  readonly isInner: boolean;
}

export interface BecauseOptions {
  /** Default 20. */
  readonly linesMax?: number;
  /** For who shares a place; without it nodes stand for themselves. */
  readonly places?: RunFacts['places'];
  /** For causes that the history does not say; without them there are none. */
  readonly subjects?: Subjects;
}

const LINES_MAX = 20;
/** Address of an actor, as violations name it. */
const ADDRESS = /[a-z][a-z-]*\/[^\s@,:;]+@[^\s,:;]+/g;
/** A chain longer than this has lost its subject. */
const LINKS_MAX = 60;
/** Things of one kind told between two links. */
const BETWEEN_MAX = 4;

export function because(
  records: readonly HistoryRecord[],
  violation: Violation,
  { linesMax = LINES_MAX, places = {}, subjects }: BecauseOptions = {},
): Because {
  const causes = new Causes(records, subjects);
  const seen = seenAt(records, violation, causes);
  if (seen === undefined) return { lines: [], records: [], links: [] };
  const told: Told[] = [tellLink(seen, undefined)];
  let effect = seen;
  for (let links = 0; links < LINKS_MAX; links++) {
    const cause = causes.of(effect);
    if (cause === undefined || cause.record.index >= effect.index) break;
    told.push(...between(records, cause, effect, places));
    effect = cause.record;
    const turn = effect.type === 'sent' ? causes.of(effect)?.record : undefined;
    told.push(tellLink(turn ?? effect, effect.type === 'sent' ? effect : undefined, cause.by));
    effect = turn ?? effect;
  }
  told.reverse();
  addRefusal(told, records, violation, seen);
  const links = cut(told, linesMax).map(linkOf);
  return { lines: links.map(lineOf), records: told.flatMap(({ index }) => index), links };
}

/** Where it was seen; what was seen at the end is about the actor that it speaks of. */
function seenAt(
  records: readonly HistoryRecord[],
  { record, what }: Violation,
  causes: Causes,
): HistoryRecord | undefined {
  if (record !== null) return records[record];
  return causes.lastOfActorIn(what) ?? records.at(-1);
}

/** What stopped there is no cause of anything that came after: it is looked for beside the chain. */
function addRefusal(
  told: Told[],
  records: readonly HistoryRecord[],
  { record, what }: Violation,
  seen: HistoryRecord,
): void {
  const named = what.match(ADDRESS) ?? [];
  const actors = new Set(seen.type === 'turn' ? [...named, seen.address] : named);
  const refusal = lastRefusal(record === null ? records : records.slice(0, record + 1), actors);
  if (refusal === undefined || refusal.record.index === seen.index) return;
  const { atMs, node, index } = refusal.record;
  const link = { atMs, node, text: short(refusal.what, 240), index: [index] };
  const isLater = (one: Told): boolean => (one.index[0] ?? 0) >= index;
  const at = told.findIndex(isLater);
  told.splice(at < 0 ? told.length : at, at >= 0 && told[at]?.index[0] === index ? 1 : 0, link);
}

interface Told {
  readonly atMs: number;
  readonly node: string;
  readonly text: string;
  readonly index: readonly number[];
  readonly isInner?: boolean;
}

function tellLink(record: HistoryRecord, sent: SentRecord | undefined, by?: Cause['by']): Told {
  const { atMs, node, index } = record;
  const and = sent === undefined ? '' : `; it sent ${messageOf(sent)}`;
  const armed = by === 'deadline' ? '; it set the deadline' : '';
  const said = by === 'hint' ? '; it gave the hint' : '';
  const related = by === 'before' ? '; then' : '';
  const text = `${short(tell(record), 200)}${and}${armed}${said}${related}`;
  return { atMs, node, text, index: sent === undefined ? [index] : [index, sent.index] };
}

const messageOf = ({ event, to, counter }: SentRecord): string =>
  `${event.type} to ${to} (message ${counter})`;

/** What befell the message and its two ends on the way, newest first. */
function between(
  records: readonly HistoryRecord[],
  { record: cause, frames }: Cause,
  effect: HistoryRecord,
  places: RunFacts['places'],
): readonly Told[] {
  const ends = new Set([...endsOf(cause), ...endsOf(effect)]);
  const isTheirs = (node: string): boolean => ends.has(node) || ends.has(places[node] ?? node);
  const under = records.slice(cause.index + 1, effect.index);
  const lives = under.filter(
    (one) =>
      (one.type === 'node' && isTheirs(one.node) && one.change !== 'skewed') ||
      (one.type === 'lease' && ends.has(one.place) && one.change === 'acquired'),
  );
  const hits = under.filter((one) => one.type === 'fault' && one.change === 'hit');
  const faults = [...new Map(hits.map((hit) => [(hit as { id: string }).id, hit])).values()];
  const onTheWay = frames.filter(({ change, index }) => index > cause.index && change !== 'sent');
  const told = [...newest(lives), ...newest(faults), ...newest(onTheWay)]
    .sort((one, other) => other.index - one.index)
    .map((one) => tellBetween(one, effect));
  return told;
}

function newest<T>(list: readonly T[]): readonly T[] {
  return list.slice(-BETWEEN_MAX);
}

function tellBetween(record: HistoryRecord, effect: HistoryRecord): Told {
  const { atMs, node, index } = record;
  const isMessage = record.type === 'frame' && effect.type === 'turn';
  const text = isMessage ? fateOf(record, effect.event.type) : short(tell(record), 160);
  return { atMs, node, text, index: [index], isInner: true };
}

function fateOf({ change, to }: FrameRecord, type: string): string {
  return `${type} to ${nodeName(to)} ${change}`;
}

/** Nodes and places that a record is about. */
function endsOf(record: HistoryRecord): readonly string[] {
  if (record.type === 'turn') return [record.node, record.place];
  if (record.type === 'sent') return [record.node, record.place, placeOf(record.to)];
  return record.node === '' ? [] : [record.node];
}

/** The end says most, then the beginning. */
function cut(told: readonly Told[], linesMax: number): readonly Told[] {
  if (told.length <= linesMax) return told;
  const first = Math.min(3, Math.floor(linesMax / 4));
  const last = linesMax - first - 1;
  const left = told.slice(first, -last);
  const { atMs } = left[0] as Told;
  const text = `… ${left.length} more`;
  return [...told.slice(0, first), { atMs, node: '', text, index: [] }, ...told.slice(-last)];
}

function linkOf({ atMs, node, text, index, isInner = false }: Told): Link {
  const at = moment(atMs);
  return { record: index[0] ?? null, atMs, at, node: nodeName(node), what: text, isInner };
}

function lineOf({ at, node, what, isInner }: Link): string {
  return `T=${at}  ${node.padEnd(14)} ${isInner ? '  ' : ''}${what}`;
}
