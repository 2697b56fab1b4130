/**
 * Errors at the port of the store: whatever code a disk gives, a refused group is refused and may
 * be sent again; a store that has failed ends the node; a group that was handed over and lost with
 * its process never happened.
 */

import { expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { branchMachine, tellerMachine } from '../engine/bank.ts';
import { faultyStore } from '../engine/faulty-store.ts';
import { codeOf, during, storedOf } from '../engine/outcomes.ts';

async function openBank() {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const kinds = { teller: tellerMachine, branch: branchMachine };
  const logged: object[] = [];
  const logger = { debug() {}, info() {}, warn: keep, error: keep };
  function keep(fields: object, message: string): void {
    logged.push({ ...fields, message });
  }
  const rt = await testRuntime({ kinds, clock, store, logger });
  const teller = await rt.spawn('teller/1');
  return { rt, store, teller, logged };
}

const place = (token: string) => ({ type: 'order.placed', token, branch: 'east' }) as const;

test.each(['ENOSPC', 'EIO', 'EROFS', 'EMFILE', 'EDQUOT'])(
  '%s refuses a group; reads go on, and so does everything as soon as it is over',
  async (code) => {
    const { rt, store, teller, logged } = await openBank();
    await during(rt, teller.send(place('a')));
    await rt.advance('1s');
    let isOver = false;
    store.refuse = () =>
      isOver ? undefined : Object.assign(new Error(`${code}: from the disk`), { code });
    const refused = [teller.send(place('b')), teller.send(place('c'))].map(codeOf);
    expect(await during(rt, Promise.all(refused))).toEqual(['COMMIT_REFUSED', 'COMMIT_REFUSED']);
    expect(teller.getSnapshot().context.tokens).toEqual(['a']);
    expect(rt.runtime.query({ kind: 'branch' }).actors).toHaveLength(1);
    expect(rt.runtime.history('teller/1').length).toBeGreaterThan(0);
    expect(JSON.stringify(logged)).toContain(code);
    isOver = true;
    await during(rt, teller.send(place('b')));
    await rt.advance('1m');
    expect(teller.getSnapshot().context.tokens).toEqual(['a', 'b']);
    expect(storedOf(store, 'branch/east@test').snapshot.context['booked']).toEqual(['a', 'b']);
    expect(rt.runtime.undelivered()).toEqual([]);
    await rt.stop();
  },
);

test('a store that has failed ends the node, and anybody who waits hears of it', async () => {
  const clock = new SimulatedClock();
  const store = faultyStore(clock);
  const failures: Error[] = [];
  const kinds = { teller: tellerMachine, branch: branchMachine };
  const onFatal = (failure: Error) => failures.push(failure);
  const until = async <T>(call: Promise<T>): Promise<T> => {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    call.then(over, over);
    // Everything that the store defers is run, and what follows from it.
    while (!isOver) if (!clock.runDue()) await Promise.resolve();
    return call;
  };
  const runtime = await until(createRuntime({ clock, store, kinds, onFatal, telemetry: false }));
  const teller = await until(runtime.spawn('teller/1'));
  // An event that sends nothing on: no other group is under way then.
  const book = (token: string) => teller.send({ type: 'order.booked', token });
  await until(book('a'));
  store.refuse = () => new RuntimeError('STORE_FAILED', 'A sync has failed.');
  const calls = [codeOf(book('b')), codeOf(runtime.spawn('teller/2'))];
  expect(await until(Promise.all(calls))).toEqual(['STORE_FAILED', 'STORE_FAILED']);
  expect(failures).toMatchObject([{ code: 'STORE_FAILED' }]);
  expect(runtime.isHosting).toBe(false);
  expect(await codeOf(book('c'))).toBe('RUNTIME_STOPPED');
  expect(storedOf(store, 'teller/1@node-1').snapshot.context['acknowledged']).toEqual(['a']);
});

test('a group that is slow to be refused takes everything behind it along, however long that is', async () => {
  const { rt, store, teller } = await openBank();
  store.delayTasks = 50;
  let groups = 0;
  store.refuse = () => {
    groups += 1;
    return groups === 1 ? new Error('EIO: from the disk') : undefined;
  };
  const first = codeOf(teller.send(place('a')));
  await Promise.resolve();
  const others = ['b', 'c', 'd'].map((token) => codeOf(teller.send(place(token))));
  const codes = await during(rt, Promise.all([first, ...others]));
  const taken = ['a', 'b', 'c', 'd'].filter((_, index) => codes[index] === 'taken');
  expect(codes[0]).toBe('COMMIT_REFUSED');
  await rt.advance('1m');
  expect(teller.getSnapshot().context.tokens).toEqual(taken);
  expect(storedOf(store, 'teller/1@test').snapshot.context['tokens']).toEqual(taken);
});
