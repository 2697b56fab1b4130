/**
 * Restarts: an actor goes on from its last durable record, after a takeover, a torn group or a refused one.
 *
 * Lines are numbered in the record, so the number of the first turn afterwards says what it began
 * from. What no run in memory can show of MS-7 (records with a wrong checksum, missing ones, a failed
 * fsync) is proven by test/durability/damage.test.ts and test/durability/faults.test.ts; that each
 * waiting sender of a refused group hears of it (MS-12) by test/engine/refused-groups.test.ts.
 */

import { stateText } from '../../runtime/actor.ts';
import type { HistoryRecord } from '../history.ts';
import type { Invariant, Verdict, Watcher } from './invariant.ts';
import {
  type Line,
  Lines,
  type PlacedTurn,
  type TurnOrder,
  type TurnRecord,
} from './reading-lines.ts';
import { partsOf } from './reading-records.ts';

type CommitRecord = Extract<HistoryRecord, { readonly type: 'commit' }>;

/** MS-6. A successor goes on where the last record says. */
export const goesOnFromRecord: Invariant = {
  id: 'MS-6',
  kind: 'safety',
  says: 'After a restart or a takeover the first turn of an actor follows the last one in its record, and that record says what was shown of it before.',
  watch: (_, verdict) => {
    const lines = new Lines((line, address) => {
      if (line.shown?.turn === line.top) judgeImage(line, line.shown, address, verdict);
    });
    return watchTurns(lines, (record, placed) => {
      if (placed.order === 'first') verdict.exercised();
      if (placed.order !== 'again' && placed.order !== 'skipped') return;
      const { address, turn } = record;
      verdict.broken(`${address} shows turn ${turn}, and ${placed.expected} was next.`, record);
    });
  },
};

/** The record is compared with what was shown of the turn that it was written with. */
function judgeImage({ text }: Line, shown: TurnRecord, address: string, verdict: Verdict): void {
  const { value, context, children } = partsOf(text).snapshot;
  // What stands for children in a context is not what stands for them in a record.
  if (children !== undefined && Object.keys(children).length > 0) return;
  verdict.exercised();
  if (stateText(value) !== shown.state) {
    const what = `${address} was shown in ${shown.state}, and is restored in ${stateText(value)}.`;
    verdict.broken(what, shown);
  } else if (JSON.stringify(context) !== JSON.stringify(shown.context)) {
    verdict.broken(`${address} is restored with another context than was shown.`, shown);
  }
}

/** MS-7. Of a group that was cut off each record is old or new. */
export const wholeOrAbsent: Invariant = {
  id: 'MS-7',
  kind: 'safety',
  says: 'Of a group that a crash cut off each record is the old one or the new one, whole: its actor goes on from that one and from nothing between.',
  watch: (_, verdict) => {
    const lines = new Lines();
    const torn = new Set<string>();
    return {
      ...watchTurns(lines, (record, placed) => {
        if (!torn.has(record.address) || WITHIN.has(placed.order)) return;
        torn.delete(record.address);
        verdict.exercised();
        if (placed.order === 'first') return;
        const what = `${record.address} shows turn ${record.turn} after a torn group; its record says ${placed.expected} is next.`;
        verdict.broken(what, record);
      }),
      commit: (record) => {
        lines.commit(record);
        if (record.change !== 'split' && record.change !== 'lost') return;
        for (const address of record.addresses) torn.add(address);
        for (const { address, record: text } of record.writes)
          if (text !== null && !isWhole(text))
            verdict.broken(`The record of ${address} is torn.`, record);
      },
    };
  },
};

/** Turns that say nothing about what a holder began from. */
const WITHIN: ReadonlySet<TurnOrder> = new Set(['next', 'late']);

function isWhole(text: string): boolean {
  try {
    return Number.isSafeInteger(partsOf(text).turns);
  } catch {
    return false;
  }
}

/** MS-12. A refused group never happened. */
export const refusedNeverHappened: Invariant = {
  id: 'MS-12',
  kind: 'safety',
  says: 'After a refused group each actor that it touched goes on from its stored record, as if neither that group nor the one computed meanwhile had been.',
  watch: (_, verdict) => {
    const lines = new Lines();
    /** Who was refused, and the turns in its record then. */
    const refused = new Map<string, { readonly holder: number; readonly turns: number }>();
    return {
      ...watchTurns(lines, (record) => {
        const before = refused.get(record.address);
        if (before === undefined) return;
        const isSameHolder = lines.holders.ofNode(record.node) === before.holder;
        // What was durable before may be shown now only.
        if (isSameHolder && record.turn <= before.turns) return;
        refused.delete(record.address);
        if (!isSameHolder) return;
        verdict.exercised();
        if (record.turn === before.turns + 1) return;
        const what = `${record.address} shows turn ${record.turn} after a refused group; its record had ${before.turns}.`;
        verdict.broken(what, record);
      }),
      commit: (record) => {
        lines.commit(record);
        if (record.change === 'refused') noteRefused(record, lines, refused);
      },
    };
  },
};

function noteRefused(
  { addresses, node }: CommitRecord,
  lines: Lines,
  refused: Map<string, { readonly holder: number; readonly turns: number }>,
): void {
  const holder = lines.holders.ofNode(node);
  for (const address of addresses)
    refused.set(address, { holder, turns: lines.of(address)?.top ?? 0 });
}

function watchTurns(
  lines: Lines,
  judge: (record: TurnRecord, placed: PlacedTurn) => void,
): Watcher {
  return {
    node: (record) => lines.node(record),
    fault: (record) => lines.fault(record),
    commit: (record) => lines.commit(record),
    turn: (record) => {
      const placed = lines.turn(record);
      if (placed !== undefined) judge(record, placed);
    },
  };
}
