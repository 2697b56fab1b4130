/**
 * Lateness of timeouts, and what is left of trees that do not want to end: 1,000 items at once, of which 300 fork,
 * hang and ignore SIGTERM. The others end by themselves.
 */

import { readdirSync, readFileSync } from 'node:fs';
import type { Host } from '../programs/mapreduce/host.ts';
import { statisticsOf } from '../programs/mapreduce/timeouts.ts';
import { runOnce } from './mapreduce-scene.ts';
import { median, rangeOf } from './rounds.ts';
import type { Field, Measured, MeasureOptions } from './suite.ts';

const ITEMS = 1_000;
const QUICK_ITEMS = 100;
const LIMIT_SECONDS = 20;
/** Three of ten have a child, and neither of the two ends when it is asked to. */
const SHELL =
  'if [ $((${item_} % 10)) -lt 3 ]; then trap "" TERM; (trap "" TERM; while :; do sleep 5; done) & while :; do sleep 5; done; fi';

export const mapReduceLateness: Field = {
  name: 'decisionP99Ms',
  about: `ms from deadline to decision of ${ITEMS * 0.3} timeouts among ${ITEMS} agents, p99`,
  better: 'lower',
  goal: 250,
  others: [
    {
      name: 'signalP99Ms',
      about: 'ms from deadline to the first signal, p99',
      better: 'lower',
      goal: 2_000,
    },
    {
      name: 'earliestMs',
      about: 'earliest decision after its deadline: never below 0',
      better: 'higher',
      goal: 0,
    },
    {
      name: 'processesLeft',
      about: 'processes of ended attempts 1 s after the last grace',
      better: 'lower',
      goal: 0,
    },
  ],
  measure,
};

async function measure(options: MeasureOptions): Promise<Measured> {
  const items = options.isQuick ? QUICK_ITEMS : ITEMS;
  const rounds = Math.min(options.rounds, 3);
  const samples: Record<string, number[]> = { decision: [], signal: [], earliest: [], left: [] };
  for (let round = 0; round < rounds; round++) {
    const work = {
      items,
      shell: SHELL.replace('${item_}', '$(cat "$ESCAPEMENT_ITEM_FILE")'),
      map: { max_parallel: items, agent_timeout_secs: LIMIT_SECONDS },
    };
    await runOnce(work, async (host, runId) => {
      const stats = statisticsOf(host.stored, host.stored.runs());
      samples.decision?.push(stats.decision_lateness_p99_ms);
      samples.signal?.push(stats.signal_lateness_p99_ms);
      samples.earliest?.push(earliestOf(host, runId));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      samples.left?.push(processesOf(host.data));
    });
    options.progress(`  round ${round + 1}: ${JSON.stringify(samples)}`);
  }
  const figure = (name: string) => {
    const values = samples[name] ?? [];
    return { value: median(values), range: rangeOf(values), rounds };
  };
  return {
    ...figure('decision'),
    others: {
      signalP99Ms: figure('signal'),
      earliestMs: figure('earliest'),
      processesLeft: figure('left'),
    },
    details: { items, limitSeconds: LIMIT_SECONDS },
    raw: samples,
  };
}

function earliestOf({ stored }: Host, runId: string): number {
  const late = [...stored.agents(runId)].flatMap(({ context: { timeout } }) =>
    timeout === null ? [] : [timeout.decidedAt - timeout.dueAt],
  );
  return Math.min(...late);
}

function processesOf(data: string): number {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/environ`, 'latin1').includes(
          `ESCAPEMENT_ATTEMPT_MARK=${data}/`,
        ) &&
        !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
      );
    } catch {
      return false;
    }
  }).length;
}
