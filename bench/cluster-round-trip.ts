/**
 * Latency of a question to an actor of another process, one at a time, and beside it the echo of plain ws.
 *
 * The question goes as a frame of a node, takes a turn of the actor with its record in memory, and the
 * answer comes back the same way. The value is the median of all questions of a round, then of the rounds.
 */

import { messagePrograms } from './cluster-message-programs.ts';
import { interleave, median, quantile, rangeOf, ratios, rounded, summary } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const QUESTIONS = 5_000;
const QUICK_SHARE = 0.2;

export const roundTrip: Field = {
  name: 'rttP50Us',
  about: 'µs from a question to an actor of another process to its answer, one at a time, median',
  better: 'lower',
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const count = QUESTIONS * (options.isQuick ? QUICK_SHARE : 1);
  const { sender, end } = await messagePrograms();
  const p99: Record<string, number[]> = { ask: [], plainWs: [] };
  const p50Of = async (name: string, way: 'ask' | 'echo'): Promise<number> => {
    const took = await sender.ask<number[]>(way, count);
    p99[name]?.push(quantile(took, 0.99));
    return quantile(took, 0.5);
  };
  const raw = await interleave(
    [
      { name: 'ask', run: () => p50Of('ask', 'ask') },
      { name: 'plainWs', run: () => p50Of('plainWs', 'echo') },
    ],
    options,
  );
  await end();
  const samples = raw.ask ?? [];
  return {
    value: rounded(median(samples)),
    range: rangeOf(samples),
    rounds: samples.length,
    details: {
      questionsPerSample: count,
      p50Us: Object.fromEntries(
        Object.entries(raw).map(([name, values]) => [name, summary(values)]),
      ),
      p99Us: Object.fromEntries(
        Object.entries(p99).map(([name, values]) => [name, summary(values.slice(1))]),
      ),
      vsPlainWs: summary(ratios(raw, 'ask', 'plainWs')),
    },
    raw,
  };
}
