/** Messages that nobody took are a fault of the product where nothing else was at fault. */

import type { JobsInvariant } from '../facts.ts';

export const leavesNoDeadLetters: JobsInvariant = {
  id: 'RT-17',
  kind: 'safety',
  says: 'In a run without faults every message is taken by its receiver, and every effect is carried out.',
  watch: ({ isFaultFree }, verdict) => ({
    undelivered: (record) => {
      if (!isFaultFree || record.isMoot === true) return;
      const { to, event, error } = record;
      verdict.broken(`${to} did not take ${event.type}: ${error.code}`, record);
    },
    end: () => {
      if (isFaultFree) verdict.exercised();
    },
  }),
};
