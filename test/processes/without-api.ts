/**
 * A program for telemetry's tests, run in a process of its own: a process in which
 * `@opentelemetry/api` cannot be found, as where nobody has installed it.
 *
 * With the argument `registered` it looks as if an SDK were there all the same. It prints
 * what happened as one line of JSON.
 */

import { register } from 'node:module';
import { MessageChannel } from 'node:worker_threads';

const { port1: asked, port2 } = new MessageChannel();
const hooks = `
  let port;
  export function initialize(given) { port = given; }
  export async function resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/')) return next(specifier, context);
    port.postMessage(specifier);
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`, {
  data: port2,
  transferList: [port2],
});
let lookups = 0;
asked.on('message', () => {
  lookups += 1;
});
asked.unref();

if (process.argv.includes('registered'))
  Object.assign(globalThis, {
    [Symbol.for('opentelemetry.js.api.1')]: { version: '1.10.0', trace: {}, metrics: {} },
  });

const { createRuntime } = await import('../../index.ts');
const { openTelemetry } = await import('../../telemetry/index.ts');
const { setup } = await import('xstate');

const runtime = await createRuntime({ kinds: { order: setup({}).createMachine({}) } });
await runtime.spawn('order/1');
const { turns } = runtime.metrics();
// Messages of the hooks' thread come in order, so one more look at the loop sees them all.
await new Promise((resolve) => setImmediate(resolve));
const automatic = lookups;
const refusal = await openTelemetry(runtime).catch((thrown: { code?: string }) => thrown.code);
await runtime.stop();
process.stdout.write(`${JSON.stringify({ turns, automatic, refusal })}\n`);
