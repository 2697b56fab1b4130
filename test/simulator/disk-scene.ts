/** A disk of place A, mounted by one node, and the outcome of the groups it was handed. */

import type { Group } from '../../runtime/ports/store.ts';
import type { CommitFact } from '../../simulator/history/history.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { Disk, type DiskOptions } from '../../simulator/world/disk/disk.ts';
import { NodeClock } from '../../simulator/world/node-clock.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { group, write } from '../contracts/store-groups.ts';

export function begin(parts: Partial<DiskOptions> = {}, seed = 1) {
  const clock = new SimulatedClock({ tiebreak: new SeededRandom(seed, 'tiebreak') });
  const startedAt = clock.now();
  const facts: CommitFact[] = [];
  const disk = new Disk({
    place: 'A',
    clock,
    random: new SeededRandom(seed, 'disk'),
    onCommit: (_, fact) => facts.push(fact),
    ...parts,
  });
  const nodeClock = new NodeClock(clock);
  const store = disk.mount('n', 1, nodeClock);
  /** What was settled, and when. */
  const settled: string[] = [];
  const commit = (name: string, of: Group, into = store) =>
    into.commit(of, (refusal) => {
      const outcome = (refusal as { code?: string } | undefined)?.code ?? 'settled';
      settled.push(`${clock.now() - startedAt} ${name} ${outcome}`);
    });
  const pass = async (durationMs: number) => {
    const endsAt = clock.now() + durationMs;
    await new Promise(setImmediate);
    while (clock.step(endsAt)) await new Promise(setImmediate);
    clock.advanceTo(endsAt);
  };
  const changes = () => facts.map(({ change, writes }) => `${change} ${writes.length}`);
  return { clock, nodeClock, disk, store, facts, changes, settled, commit, pass };
}

export const three = (text: string) => group([1, 2, 3].map((key) => write(`order/${key}@A`, text)));
export const one = (text: string, parts: Partial<Group> = {}) =>
  group([write('order/1@A', text)], parts);
