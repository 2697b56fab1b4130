/** The commands about actors, against a node of own kinds and against one of the jobs system. */

import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assign, setup } from 'xstate';
import { createRuntime } from '../../create-runtime.ts';
import { createHttpHandler, createHttpServer } from '../../http/index.ts';
import { type Served, serve } from '../http/served.ts';
import { escapement } from './command-line.ts';

const orderMachine = setup({
  types: {
    context: {} as { total: number; payments: number },
    input: {} as { total: number },
    events: {} as { type: 'order.paid' } | { type: 'order.break' },
  },
  delays: { paymentLimit: 900_000 },
}).createMachine({
  id: 'order',
  context: ({ input }) => ({ total: input.total, payments: 0 }),
  initial: 'open',
  states: { open: { tags: 'unpaid', after: { paymentLimit: 'expired' } }, paid: {}, expired: {} },
  on: {
    'order.paid': {
      target: '.paid',
      actions: assign({ payments: ({ context }) => context.payments + 1 }),
    },
    'order.break': {
      actions: assign(() => {
        throw new Error('a defect');
      }),
    },
  },
});

const kinds = { order: orderMachine };
let runtime: Awaited<ReturnType<typeof createRuntime<typeof kinds>>>;
let served: Served;
let url = '';
let close: () => Promise<unknown>;

beforeAll(async () => {
  runtime = await createRuntime({ node: 'shop', kinds });
  const limits = { requestsPerMinute: 100_000 };
  const handler = createHttpHandler({ program: { runtime }, limits });
  const server = createHttpServer(handler, { limits });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  served = await serve();
  close = async () => {
    await handler.close();
    server.close();
    await runtime.stop();
    await served.stop();
  };
});
afterAll(() => close());

const at = (node: string) => (args: readonly string[]) =>
  escapement(args, { env: { ESCAPEMENT_URL: node } });
const own = (...args: string[]) => at(url)(args);

describe('a node of own kinds', () => {
  test('begins an actor, once', async () => {
    const input = ['--input', '{"total": 99}'];
    expect(await own('spawn', 'order/1', ...input)).toEqual({
      code: 0,
      out: 'order/1@shop is there\n',
      err: '',
    });
    const again = await own('spawn', 'order/1', ...input);
    expect([again.code, again.err]).toEqual([65, expect.stringContaining('(409 conflict)')]);
    const kept = await own('spawn', 'order/1', '--input', '{"total": 1}', '--if-absent', '--json');
    expect(JSON.parse(kept.out)).toEqual({ address: 'order/1@shop' });
    expect(runtime.actor('order/1').getSnapshot().context.total).toBe(99);
  });

  test('takes an event once for an id', async () => {
    await runtime.spawn('order/2', { input: { total: 5 } });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const sent = await own('send', 'order/2', 'order.paid', '--id', 'r1');
      expect(sent).toEqual({ code: 0, out: 'order/2@shop took order.paid\n', err: '' });
    }
    expect(runtime.actor('order/2').getSnapshot().context.payments).toBe(1);
    const more = await own(
      'send',
      'order/2',
      'order.paid',
      '--json-payload',
      '{"by":"a"}',
      '--json',
    );
    expect(JSON.parse(more.out)).toMatchObject({ accepted: true, id: expect.any(String) });
    expect(runtime.actor('order/2').getSnapshot().context.payments).toBe(2);
  });

  test.each([
    [['order/none', 'order.paid'], 1, 'There is no actor order/none@shop'],
    [['order/1', 'order.piad'], 65, 'has no transition for "order.piad"'],
    [['order/1', 'order.break'], 65, 'TURN_FAILED'],
    [['order', 'order.paid'], 64, 'kind/key'],
    [['order/1', 'order.paid', '--json-payload', '[]'], 64, 'must be a JSON object'],
    [['order/1', 'order.paid', '--json-payload', '{"type":"x"}'], 64, 'argument <event>'],
  ] as const)('says of %j why not', async (args, code, said) => {
    await runtime.spawn('order/1', { input: { total: 1 }, ifAbsent: true });
    const ended = await own('send', ...args);
    expect([ended.code, ended.err]).toEqual([code, expect.stringContaining(said)]);
  });

  test('lists its actors', async () => {
    for (const key of ['la', 'lb', 'lc'])
      await runtime.spawn(`order/${key}`, { input: { total: 1 } });
    const { out } = await own('actors', '--tag', 'unpaid');
    expect(out).toMatch(/^ACTOR +STATUS +STATE +DUE +LAST EVENT\n/);
    expect(out).toMatch(/order\/la@shop +active +open +in 1[45]m/);
    const some = JSON.parse((await own('actors', '--state', 'open', '--limit', '1', '--json')).out);
    expect([some.actors.length, typeof some.cursor]).toEqual([1, 'string']);
    expect((await own('actors', '--kind', 'nothing')).out).toBe('There are no such actors.\n');
    const due = JSON.parse((await own('actors', '--deadline-before', '1m', '--json')).out);
    expect(due.actors).toEqual([]);
  });

  test('shows one, and what happened to it', async () => {
    await runtime.spawn('order/shown', { input: { total: 7 } });
    const shown = await own('show', 'order/shown');
    expect([shown.code, shown.out]).toEqual([
      0,
      expect.stringMatching(
        /^order\/shown@shop is "open" after 1 turns\n {2}context.*\n(?: {2}exit.*\n)+ {2}deadline/,
      ),
    ]);
    const { snapshot } = JSON.parse((await own('show', 'order/shown', '--json')).out);
    expect(snapshot).toMatchObject({ value: 'open', context: { total: 7 } });
    expect((await own('history', 'order/shown')).out).toMatch(/escapement\.spawn +open/);
    expect((await own('show', 'order/gone')).code).toBe(1);
    expect((await own('show', 'order/shown', '--watch')).code).toBe(64);
    expect((await own('show', 'my order')).code).toBe(64);
  });

  test('ends one and forgets it, and revives one that was stopped', async () => {
    await runtime.spawn('order/ended', { input: { total: 7 } });
    expect((await own('forget', 'order/ended')).code).toBe(65);
    expect(await own('end', 'order/ended')).toEqual({
      code: 0,
      out: 'order/ended@shop has ended\n',
      err: '',
    });
    expect((await own('end', 'order/ended')).code).toBe(1);
    expect((await own('revive', 'order/ended', '--json')).code).toBe(0);
    expect((await own('actors', '--status', 'active', '--json')).out).toContain('order/ended@shop');
    expect((await own('revive', 'order/ended')).code).toBe(65);
    await own('end', 'order/ended');
    expect((await own('forget', 'order/ended')).out).toBe('order/ended@shop is forgotten\n');
    expect((await own('show', 'order/ended')).code).toBe(1);
    const elsewhere = await own('end', 'order/1@elsewhere');
    expect([elsewhere.code, elsewhere.err]).toEqual([65, expect.stringContaining('Ask a node of')]);
  });

  test('tells what is due, and what nobody could take', async () => {
    await runtime.spawn('order/due', { input: { total: 7 } });
    expect((await own('timers')).out).toMatch(/order\/due@shop +open/);
    await own('send', 'order/due', 'order.break');
    const listed = JSON.parse((await own('undelivered', 'list', '--json')).out).undelivered;
    const found = listed.find(({ to }: { to: string }) => to === 'order/due@shop');
    expect(found).toMatchObject({ type: 'order.break', error: { code: 'TURN_FAILED' } });
    expect((await own('undelivered', 'drop', found.id)).code).toBe(0);
    expect((await own('waiting')).out).toBe('Nothing waits for a place that is silent.\n');
  });

  test('has no jobs', async () => {
    const { code, err } = await own('jobs');
    expect([code, err]).toEqual([1, expect.stringContaining('nothing at this path')]);
  });
});

describe('a node of the jobs system', () => {
  test('shows its actors, and has none of them sent anything', async () => {
    const { url: node } = served.atManager;
    const manager = at(node);
    await manager([...['submit', '--id', 'j1', '--timeout', '10m', '--workflow', 'one=wait']]);
    const { out } = await manager(['actors', '--kind', 'workflow']);
    expect(out).toMatch(/workflow\/j1\/one@A/);
    expect((await manager(['show', 'workflow/j1/one'])).out).toMatch(/^workflow\/j1\/one@A is "/);
    expect((await manager(['history', 'job/j1'])).out).toContain('job/j1@A');
    for (const args of [
      ['send', 'job/j1', 'job.cancelled'],
      ['spawn', 'job/j2'],
      ['end', 'job/j1'],
      ['forget', 'job/j1'],
    ]) {
      const { code, err } = await manager(args);
      expect([code, err]).toEqual([77, expect.stringContaining('submit, cancel or extend')]);
    }
    expect((await manager(['waiting'])).code).toBe(0);
    // It is active: there is nothing to revive.
    expect((await manager(['revive', 'job/j1'])).code).toBe(65);
  });
});
