/**
 * Cost of a job among 100,000 that are held at work ÷ among 1,000: turns, characters written, CPU time.
 *
 * Jobs of one workflow whose handler returns at once run in a closed loop beside those that are held, on
 * the memory store, with manager, workers and client in this process. Turns and what is written are counted,
 * CPU time is the process's: the median of slices, collected garbage included.
 */

import { memoryStore } from '../index.ts';
import { closedLoop } from './closed-loop.ts';
import { countedStore } from './counted-store.ts';
import { type JobsSystem, startSystem, until } from './jobs-system.ts';
import { collectGarbage, median, rangeOf, rounded } from './rounds.ts';
import type { Field, Figure, Measured, MeasuredFigure, MeasureOptions } from './suite.ts';

const [FEW, MANY] = [1_000, 100_000];
const QUICK_MANY = 4_000;
const PER_WORKER = 1_000;
/** With room beside those that are held. */
const CORES = 1_024;
const IN_FLIGHT = 16;
const JOBS_OF_A_SLICE = 200;
const DAY_MS = 86_400_000;
const LIMIT_MS = 1_800_000;

const growth = (of: string, about: string): Figure => ({
  name: `growth1kTo100k.${of}`,
  about: `${about} of a job among 100,000 held ones ÷ among 1,000`,
  better: 'lower',
  goal: 1.3,
  stretch: 1.1,
});

export const jobsGrowth: Field = {
  ...growth('cpu', 'CPU time'),
  others: [growth('turns', 'turns'), growth('bytes', 'characters written')],
  measure,
};

/** Cost of each job of a slice. */
interface Cost {
  readonly turns: number;
  readonly bytes: number;
  readonly cpu: number;
}

async function measure(options: MeasureOptions): Promise<Measured> {
  const many = options.sizes.held ?? (options.isQuick ? QUICK_MANY : MANY);
  const store = countedStore(memoryStore());
  let running = 0;
  const system = await startSystem({
    workers: Math.ceil(many / PER_WORKER),
    cores: CORES,
    handlers: {
      atOnce: async () => 'done',
      held: ({ signal }) => {
        running += 1;
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      },
    },
    store,
  });
  const turnsNow = (): number =>
    [system.manager, ...system.workers].reduce(
      (sum, { runtime }) => sum + runtime.metrics().turns,
      0,
    );
  let held = 0;
  const hold = async (count: number): Promise<void> => {
    const first = held;
    held = count;
    await closedLoop(count - first, IN_FLIGHT, (index) =>
      submit(system, `held-${first + index}`, 'held'),
    );
    await until('all run', LIMIT_MS, () => running >= count && system.isAtRest);
    options.progress(`  ${count} are held`);
  };
  let submitted = 0;
  const slice = async (): Promise<Cost> => {
    collectGarbage();
    const [turns, bytes, cpu] = [turnsNow(), store.written, process.cpuUsage()];
    const from = submitted;
    submitted += JOBS_OF_A_SLICE;
    await closedLoop(JOBS_OF_A_SLICE, IN_FLIGHT, async (index) => {
      const ended = system.end(`j${from + index}`);
      await submit(system, `j${from + index}`, 'atOnce');
      await ended;
    });
    await system.rest();
    const { user, system: kernel } = process.cpuUsage(cpu);
    return {
      turns: (turnsNow() - turns) / JOBS_OF_A_SLICE,
      bytes: (store.written - bytes) / JOBS_OF_A_SLICE,
      cpu: (user + kernel) / JOBS_OF_A_SLICE,
    };
  };
  const slices = async (): Promise<Cost[]> => {
    await slice();
    const costs: Cost[] = [];
    for (let round = 0; round < options.rounds; round += 1) costs.push(await slice());
    return costs;
  };
  await hold(FEW);
  const among = { few: await slices(), many: [] as Cost[] };
  await hold(many);
  among.many = await slices();
  await system.stop();
  return measuredOf(among, many);
}

function measuredOf(
  { few, many }: { readonly few: readonly Cost[]; readonly many: readonly Cost[] },
  held: number,
): Measured {
  const ratio = (of: keyof Cost): MeasuredFigure => {
    const base = median(few.map((cost) => cost[of]));
    const all = many.map((cost) => cost[of] / base);
    return { value: rounded(median(all)), range: rangeOf(all), rounds: all.length };
  };
  const each = (of: keyof Cost, costs: readonly Cost[]): number =>
    rounded(median(costs.map((cost) => cost[of])));
  const costs = (of: readonly Cost[]) => ({
    turns: each('turns', of),
    characters: each('bytes', of),
    cpuUs: each('cpu', of),
  });
  return {
    ...ratio('cpu'),
    others: {
      'growth1kTo100k.turns': ratio('turns'),
      'growth1kTo100k.bytes': ratio('bytes'),
    },
    details: { held: [FEW, held], perJobAmong1k: costs(few), perJobAmongAll: costs(many) },
    raw: {
      cpuUsAmong1k: few.map(({ cpu }) => cpu),
      cpuUsAmongAll: many.map(({ cpu }) => cpu),
    },
  };
}

async function submit(system: JobsSystem, jobId: string, handler: string): Promise<void> {
  const terms = { timeoutMs: DAY_MS, stuckThresholdMs: DAY_MS };
  await system.submit({ jobId, ...terms, workflows: [{ id: 'w', handler }] });
}
