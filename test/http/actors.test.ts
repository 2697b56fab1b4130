/** Events for actors of own kinds over HTTP: whose key is whose, and which kinds are for whom. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { close, type Endpoint, listen, TOKENS } from './served.ts';

const counter = setup({
  types: { context: {} as { count: number }, events: {} as { type: 'add' } },
}).createMachine({
  context: { count: 0 },
  on: { add: { actions: assign({ count: ({ context }) => context.count + 1 }) } },
});
const kinds = { closed: counter, open: { machine: counter, openToClients: true } };

let runtime: Awaited<ReturnType<typeof createRuntime<typeof kinds>>>;
let at: Endpoint;
beforeAll(async () => {
  runtime = await createRuntime({ node: 'shop', kinds });
  at = await listen({ runtime }, { tokens: TOKENS });
});
afterAll(async () => {
  await close(at.server, at.handler);
  await runtime.stop();
});

const add = async (name: string, address: string, more: object = {}, key?: string) => {
  const { token = '' } = TOKENS.find((one) => one.name === name) ?? {};
  const headers = {
    authorization: `Bearer ${token}`,
    ...(key !== undefined && { 'idempotency-key': key }),
  };
  const { status } = await at.body(`/v1/actors/${address}`, {
    headers,
    json: { type: 'add', ...more },
  });
  return status;
};

test('of one client one event is taken for a key, and of two clients two', async () => {
  const actor = await runtime.spawn('open/keys');
  for (const name of ['sam', 'sam', 'olga', 'olga'])
    expect(await add(name, 'open/keys', {}, 'first')).toBe(200);
  expect(actor.getSnapshot().context.count).toBe(2);
  expect(await add('sam', 'open/keys', { more: true }, 'first')).toBe(409);
});

test('a key and the name of its client have room in the id of a send together', async () => {
  await runtime.spawn('open/long');
  expect(await add('sam', 'open/long', {}, 'k'.repeat(124))).toBe(200);
  expect(await add('sam', 'open/long', {}, 'k'.repeat(125))).toBe(400);
});

test('a submitter reaches kinds that are open to clients, an operator all, a reader none', async () => {
  const [open, closed] = [await runtime.spawn('open/1'), await runtime.spawn('closed/1')];
  for (const name of ['rita', 'sam', 'olga', 'team']) {
    await add(name, 'open/1');
    await add(name, 'closed/1');
  }
  expect(open.getSnapshot().context.count).toBe(2);
  expect(closed.getSnapshot().context.count).toBe(1);
  // What is open in another place only a node there knows.
  expect(await add('sam', 'open/1@elsewhere')).toBe(403);
});

test('nobody has answers sent anywhere', async () => {
  await runtime.spawn('open/asked');
  expect(await add('olga', 'open/asked', { replyTo: 'ask/1@elsewhere' })).toBe(400);
});
