/** Children and commits: what runs is what the committed record says. */

import { expect, test } from 'vitest';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { memoryStore } from '../../stores/memory.ts';
import { busy, start, Work } from './busy.ts';

test('a child starts after the commit, and not at all when it is refused', async () => {
  const work = new Work();
  const store = memoryStore();
  const commit = store.commit.bind(store);
  let refusal: Error | undefined;
  const held: Array<() => void> = [];
  store.commit = (group, settle) => {
    held.push(() => {
      if (refusal === undefined) commit(group, settle);
      else settle(refusal);
    });
    queueMicrotask(() => {
      if (!isHolding) for (const release of held.splice(0)) release();
    });
  };
  let isHolding: boolean = false;
  const { rt, send, state } = await start(busy(work.logic), store);
  isHolding = true;
  const refused = send('go');
  void refused.catch(() => {});
  await rt.settle();
  expect(work.runs).toHaveLength(0);
  refusal = new RuntimeError('INTERNAL', 'no room');
  for (const release of held.splice(0)) release();
  refusal = undefined;
  isHolding = false;
  await expect(refused).rejects.toMatchObject({ code: 'COMMIT_REFUSED' });
  await rt.settle();
  expect(work.runs).toHaveLength(0);
  await send('go');
  expect(work.runs).toHaveLength(1);
  // Leaving is refused: the child that the record has goes on undisturbed.
  isHolding = true;
  const leaving = send('leave');
  void leaving.catch(() => {});
  await rt.settle();
  refusal = new RuntimeError('INTERNAL', 'no room');
  for (const release of held.splice(0)) release();
  refusal = undefined;
  isHolding = false;
  await rt.settle();
  expect(work.runs).toHaveLength(1);
  expect(work.last.signal.aborted).toBe(false);
  work.last.resolve(1);
  await rt.settle();
  expect(state()).toBe('done');
});

test('a result whose commit is refused is not lost, and costs no other run', async () => {
  const work = new Work();
  const store = memoryStore();
  const commit = store.commit.bind(store);
  let isRefusing: boolean = false;
  store.commit = (group, settle) => {
    if (isRefusing) queueMicrotask(() => settle(new RuntimeError('INTERNAL', 'no room')));
    else commit(group, settle);
    isRefusing = false;
  };
  const { rt, send, state } = await start(busy(work.logic), store);
  await send('go');
  isRefusing = true;
  work.last.resolve(1);
  await rt.settle();
  expect(state()).toBe('done');
  expect(work.runs).toHaveLength(1);
});
