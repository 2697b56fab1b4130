import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../runtime/system/clock.ts';
import { SimulatedClock } from '../../simulator/world/clock.ts';
import { type ClockDriver, describeClock } from './describe-clock.ts';

describeClock('the system clock', () => {
  const clock = systemClock();
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await nextTurn();
  };
  return {
    clock,
    until,
    pass: async (durationMs) => {
      const end = clock.now() + durationMs;
      await until(() => clock.now() >= end);
      // Timeouts of the present moment get their turn.
      await nextTurn();
    },
    close: () => clock.stop(),
  };
});

describeClock('the simulated clock', (): ClockDriver => {
  const clock = new SimulatedClock();
  return {
    clock,
    until: async (isTrue) => {
      while (!isTrue()) {
        if (!clock.step()) throw new Error('There is no task left that could make it true.');
      }
    },
    pass: async (durationMs) => clock.advanceBy(durationMs),
    close: () => {},
  };
});
