import { memoryStore } from '../../stores/memory.ts';
import { describeStore } from './describe-store.ts';

describeStore('the memory store', async (limits) => {
  const store = memoryStore(limits);
  return { ...limits, store, close: () => store.close() };
});
