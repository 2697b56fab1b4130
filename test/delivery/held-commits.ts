/** Store whose commits can be held back, and let go or lost. */

import { memoryStore } from '../../stores/memory.ts';

export function holdableStore() {
  const store = memoryStore();
  const commit = store.commit.bind(store);
  let held: Array<() => void> | undefined;
  store.commit = (group, settle) => {
    if (held === undefined) commit(group, settle);
    else held.push(() => commit(group, settle));
  };
  return {
    store,
    hold: () => {
      held = [];
    },
    release: (isLost = false) => {
      const waiting = held ?? [];
      held = undefined;
      if (!isLost) for (const go of waiting) go();
    },
  };
}
