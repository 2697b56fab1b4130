/**
 * Messages per second between two processes through the whole stack, against plain ws.
 *
 * Ours: 256 actors of one process tell 256 actors of the other; every message is a row of an outbox, goes
 * over the socket, takes a turn with its mark and its record, and is answered with a receipt. The store is
 * the one in memory. Plain ws: the same event as one frame each, parsed by the other side and counted.
 */

import { BUSY_NODE } from './busy-node.ts';
import { messagePrograms } from './cluster-message-programs.ts';
import { interleave, median, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

/** A multiple of what all sources send in one turn, also when it is scaled down. */
const MESSAGES = 192_000;
const QUICK_SHARE = 0.2;

export const messages: Field = {
  name: 'wsVsUnbatched',
  about: 'messages per second between actors of two processes ÷ plain ws, one frame for each',
  better: 'higher',
  goal: 2,
  stretch: 4,
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const count = MESSAGES * (options.isQuick ? QUICK_SHARE : 1);
  const ours = await messagePrograms(BUSY_NODE);
  const plain = await messagePrograms();
  const hintsTaken: number[] = [];
  const perSecond = async (way: 'tell' | 'hint' | 'plain'): Promise<number> => {
    const { sender } = way === 'plain' ? plain : ours;
    const { ms, taken = count } = await sender.ask<{ ms: number; taken?: number }>(way, count);
    if (way === 'hint') hintsTaken.push(taken / count);
    else if (taken !== count) throw new Error(`${way}: ${taken} of ${count} messages were taken.`);
    return (count * 1_000) / ms;
  };
  const raw = await interleave(
    [
      { name: 'tell', run: () => perSecond('tell') },
      { name: 'plainWs', run: () => perSecond('plain') },
      { name: 'hint', run: () => perSecond('hint') },
    ],
    options,
  );
  const used = { ours: ours.usage(), plainWs: plain.usage() };
  await ours.end();
  await plain.end();
  const perRound = ratios(raw, 'tell', 'plainWs');
  return {
    value: rounded(median(perRound)),
    range: rangeOf(perRound),
    rounds: perRound.length,
    details: {
      messagesPerSample: count,
      messagesPerSecond: Object.fromEntries(
        Object.entries(raw).map(([name, samples]) => [name, summary(samples)]),
      ),
      // Of hints that wait in one mailbox the newest is taken, so that most cross and few take a turn.
      hintsSentVsUnbatched: summary(ratios(raw, 'hint', 'plainWs')),
      shareOfHintsTaken: summary(hintsTaken.slice(1)),
      usage: used,
    },
    raw,
  };
}
