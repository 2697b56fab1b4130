/** The stores of a pretend disk keep the contract: at once, and while a clock has to move. */

import { SimulatedClock } from '../../simulator/world/clock.ts';
import type { Delay } from '../../simulator/world/delay.ts';
import { Disk } from '../../simulator/world/disk/disk.ts';
import { NodeClock } from '../../simulator/world/node-clock.ts';
import { SeededRandom } from '../../simulator/world/random.ts';
import { describeStore } from '../contracts/describe-store.ts';

const slow: Delay = { shape: 'pareto', minMs: 1, tail: 1, maxMs: 500 };

for (const [name, commit] of [
  ['a pretend disk', undefined],
  ['a pretend disk that takes its time', slow],
] as const) {
  describeStore(`the store on ${name}`, async (limits) => {
    const clock = new SimulatedClock({ tiebreak: new SeededRandom(1, 'tiebreak') });
    const random = new SeededRandom(1, 'disk');
    const options = { place: 'A', clock, random, memory: limits };
    const disk = new Disk(commit === undefined ? options : { ...options, commit });
    let life = 1;
    const mount = () => disk.mount('A', life, new NodeClock(clock, 3_000));
    let isClosed = false;
    // Somebody has to move the clock while a test waits for a settlement.
    const step = (): void => {
      clock.step();
      if (!isClosed) setImmediate(step);
    };
    step();
    return {
      ...limits,
      store: mount(),
      reopen: async () => {
        disk.crash('A', life, 'written');
        life += 1;
        const store = mount();
        await store.open('A');
        return store;
      },
      close: async () => {
        isClosed = true;
      },
    };
  });
}
