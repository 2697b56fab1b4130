/**
 * A simulated run as lines of a recording: every turn with its context, messages and what befell them on the way,
 * deadlines, lives of nodes, leases and faults.
 *
 * Moments are true time; what an actor's own node had for the time is `takenAt`. Frames, groups and logs are left
 * out. Of a window alone there are the turns and messages in it; nodes, leases and faults are whole.
 */

import type { AnyStateMachine } from 'xstate';
import { placeOf } from '../../runtime/base/address.ts';
import type { HistoryRecord } from '../../simulator/history.ts';
import { openFrame, refusalOf } from '../../simulator/invariants.ts';
import { RECORDING_VERSION, type RecordedHeader, type RecordedLine } from '../protocol.ts';
import { ownVersion } from '../version.ts';
import { ContextLines } from './context-lines.ts';
import { lineOf as plainLineOf } from './line-of.ts';
import { OWN_KINDS, withDefinitions } from './own-kinds.ts';
import { turnLineOf } from './turn-line.ts';

export interface SimulatedRun {
  readonly records: readonly HistoryRecord[];
  /** Moment of the run's clock at which its time began. */
  readonly zero: number;
  /** Places by the names of their nodes. */
  readonly places: Readonly<Record<string, string>>;
}

/** What a recording needs of a run of the jobs system. */
export function recordsOf({
  history,
  facts,
  zero,
}: {
  readonly history: { readonly records: readonly HistoryRecord[] };
  readonly facts: { readonly places: SimulatedRun['places'] };
  readonly zero: number;
}): SimulatedRun {
  return { records: history.records, zero, places: facts.places };
}

export interface Window {
  /** Indexes of the first and the last record. */
  readonly first: number;
  readonly last: number;
}

const ALL: Window = { first: 0, last: Number.POSITIVE_INFINITY };

export function linesOfRun(
  title: string,
  run: SimulatedRun,
  machines: Readonly<Record<string, AnyStateMachine>> = OWN_KINDS,
): Array<RecordedHeader | RecordedLine> {
  return withDefinitions([headerOf(title, run), ...factsOf(run)], machines);
}

export function headerOf(title: string, { zero, places }: SimulatedRun): RecordedHeader {
  return {
    type: 'recording',
    version: RECORDING_VERSION,
    escapement: ownVersion(),
    at: zero,
    title,
    nodes: Object.entries(places).map(([node, place]) => ({ node, place })),
    zero,
  };
}

/** Lines of the records, in order; a fault is one line at its beginning. */
export function factsOf({ records, zero }: SimulatedRun, window = ALL): RecordedLine[] {
  const contexts = new ContextLines();
  const faults = faultsIn(records, zero);
  const fences = new Fences();
  return records.flatMap((record): RecordedLine[] => {
    const at = zero + record.atMs;
    const { node } = record;
    if (record.type === 'lease') fences.note(record);
    switch (record.type) {
      case 'fault':
        return record.change === 'began' ? (faults.get(record.id) ?? []) : [];
      case 'lease':
        return [plainLineOf(record, at, node)];
      case 'node':
        return record.change === 'skewed' || record.change === 'slowed'
          ? []
          : [{ type: 'node', at, node, change: record.change, life: record.life }];
    }
    if (record.index < window.first || record.index > window.last) return [];
    switch (record.type) {
      case 'turn':
        return [
          { ...turnLineOf({ ...record, at }), ...contexts.of(record.address, record.context) },
        ];
      case 'sent':
        return [plainLineOf({ ...record, type: 'messageSent' }, at, node)];
      case 'timers':
      case 'actor':
      case 'undelivered':
        return [plainLineOf(record, at, node)];
      case 'frame':
        return fatesOf(record, at, fences);
      default:
        return [];
    }
  });
}

type RecordOf<TType extends HistoryRecord['type']> = Extract<HistoryRecord, { type: TType }>;

/** Frames that went no straight way, by the messages in them. */
function fatesOf(
  { change, frame, node, to: peer }: RecordOf<'frame'>,
  at: number,
  fences: Fences,
): RecordedLine[] {
  if (change === 'delivered') return [];
  if (change === 'sent')
    return openFrame(frame).receipts.flatMap((receipt): RecordedLine[] => {
      const { from, counter, to } = receipt;
      const isFenced = refusalOf(receipt) === 'NOT_HOSTED' && fences.isOutranked(peer, from);
      return isFenced ? [{ type: 'fate', at, node, from, counter, to, fate: 'fenced' }] : [];
    });
  return openFrame(frame).envelopes.map(({ from, counter, to }) => ({
    type: 'fate',
    at,
    node,
    from,
    counter,
    to,
    fate: change,
  }));
}

/** Fences that nodes acquired so far, by place. */
class Fences {
  readonly #own = new Map<string, number>();
  readonly #highest = new Map<string, number>();

  note({ node, place, change, fence }: RecordOf<'lease'>): void {
    if (change !== 'acquired') return;
    this.#own.set(`${place} ${node}`, fence);
    this.#highest.set(place, Math.max(fence, this.#highest.get(place) ?? 0));
  }

  /** True when another node acquired the place of this actor after `node` did. */
  isOutranked(node: string, address: string): boolean {
    const place = placeOf(address);
    const own = this.#own.get(`${place} ${node}`);
    return own !== undefined && own < (this.#highest.get(place) ?? 0);
  }
}

function faultsIn(
  records: readonly HistoryRecord[],
  zero: number,
): ReadonlyMap<string, RecordedLine[]> {
  const found = new Map<string, { at: number; kind: string; to?: number; hits: number }>();
  for (const record of records) {
    if (record.type !== 'fault') continue;
    const { id, kind, change, atMs } = record;
    const at = zero + atMs;
    const fault = found.get(id) ?? { at, kind, hits: 0 };
    found.set(id, fault);
    if (change === 'hit') fault.hits += 1;
    if (change === 'ended') fault.to = at;
  }
  return new Map(
    [...found].map(([id, fault]) => [id, [{ type: 'fault', node: '', id, ...fault }]]),
  );
}
