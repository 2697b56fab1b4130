/**
 * A program for telemetry's tests, run in a process of its own because Node reports what
 * a subscriber throws as an uncaught exception of the process. Prints one line of JSON.
 */

import { subscribe } from 'node:diagnostics_channel';
import { setup } from 'xstate';
import { createRuntime } from '../../index.ts';

const uncaught: string[] = [];
process.on('uncaughtException', (error) => uncaught.push(error.message));
subscribe('escapement:turn', () => {
  throw new Error('a subscriber that throws');
});
const heard: string[] = [];
subscribe('escapement:turn', (record) => {
  heard.push((record as { address: string }).address);
});

const machine = setup({ types: { events: {} as { type: 'go' } } }).createMachine({
  initial: 'a',
  states: { a: { on: { go: 'b' } }, b: {} },
});
const runtime = await createRuntime({ kinds: { order: machine } });
const order = await runtime.spawn('order/1');
await order.send({ type: 'go' });
const { value } = order.getSnapshot();
await runtime.stop();
// Node reports once the promises that can settle have done so.
await new Promise((resolve) => setImmediate(resolve));
process.stdout.write(
  `${JSON.stringify({ value, heard: heard.length, uncaught: uncaught.length })}\n`,
);
