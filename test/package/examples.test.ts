/**
 * Runs every example and checks what it says, so that none of them can go stale.
 *
 * An example prints through a function that it is given; what it prints is its result.
 */

import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { main as counter } from '../../examples/counter.ts';
import { main as httpApi } from '../../examples/http-api.ts';
import { main as httpExpress } from '../../examples/http-express.ts';
import { main as httpFastify } from '../../examples/http-fastify.ts';
import { createShopServer, orderMachine } from '../../examples/http-server.ts';
import { main as invokedPromise } from '../../examples/invoked-promise.ts';
import { main as jobs } from '../../examples/jobs.ts';
import { main as orderDeadline } from '../../examples/order-deadline.ts';
import { main as simulateTransfer } from '../../examples/simulate-transfer.ts';
import { main as standby } from '../../examples/standby.ts';
import { main as twoActors } from '../../examples/two-actors.ts';
import { createRuntime } from '../../index.ts';
import { listProjectFiles, readProjectFile } from '../project-files.ts';

async function linesOf(main: (print: (line: string) => void) => Promise<void>): Promise<string[]> {
  const lines: string[] = [];
  await main((line) => lines.push(line.replaceAll(COLOUR, '')));
  return lines;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how terminals are told a colour.
const COLOUR = /\u001b\[\d+m/g;

test('counter: a second runtime goes on where the first one ended', async () => {
  expect(await linesOf(counter)).toEqual([
    'committed: 1',
    'committed: 42',
    'the first runtime has stopped',
    'the second runtime reads: 42',
  ]);
});

test('order-deadline: a crash does not move the deadline', async () => {
  const lines = await linesOf(orderDeadline);
  expect(lines).toContain('  09:13:00  order/42 is awaitingPayment, due at 09:15:00 as before');
  expect(lines).toContain('  09:14:59  order/42 is still awaitingPayment');
  expect(lines).toContain('  09:15:00  order/42 is expired, to the millisecond');
  expect(lines.filter((line) => line.includes('mail to'))).toEqual([
    '  09:05:00  mail to Ada: Thank you for 120 €.',
    '  09:15:00  mail to Bob: Your order has expired. Nothing was charged.',
  ]);
  expect(lines.join('\n')).toMatch(/order\/42@shop is "expired"[\s\S]*0 ms late/);
});

test('invoked-promise: every call to the provider and every mail bears the same key', async () => {
  expect(await linesOf(invokedPromise)).toEqual([
    'call 1 to the provider: 99 € with key charge-42',
    'the payment is pausing',
    'call 2 to the provider: 99 € with key charge-42',
    'the payment is charging',
    'the process dies and comes back',
    'call 3 to the provider: 99 € with key charge-42',
    expect.stringMatching(/^mail receipt-1, try 1, with key payment\/42@test#/),
    'the payment is charged',
    expect.stringMatching(/^mail receipt-1, try 2, with key payment\/42@test#/),
  ]);
});

test('two-actors: stock, orders and a parcel come to an agreement', async () => {
  expect(await linesOf(twoActors)).toEqual([
    'order 1 wants 7 apples and is sent',
    'order 2 wants 5 apples and is refused',
    'the stock has 3 left',
    'parcel/1@node-1 is onItsWay',
  ]);
});

test('jobs: one is done, one gets more time, one is ended by the gate in both datacenters', async () => {
  const lines = await linesOf(jobs);
  const about = (name: string) => {
    const begin = lines.findIndex((line) => line.startsWith(`${name}: `));
    const end = lines.findIndex((line, index) => index > begin && line.includes('laptop'));
    return lines.slice(begin + 1, end + 1).map((line) => line.trim().replaceAll(/ +/g, ' '));
  };
  expect(about('short').sort()).toEqual([
    '30.000 s A.manager-1 job.ended completed',
    '30.000 s B.manager-1 job.ended completed',
    '30.000 s gate job.ended completed',
    '30.000 s laptop completed, 30 steps, 0 ms added',
  ]);
  expect(about('long')).toContain('50.000 s A.manager-1 extension.granted 30000 ms');
  expect(about('long').at(-1)).toBe('80.000 s laptop completed, 80 steps, 30000 ms added');
  const stuck = about('stuck');
  expect(stuck.slice(0, 2)).toEqual([
    '25.001 s B.manager-1 timeout.detected stuck: 20001 ms without progress',
    '25.001 s gate timeout.declared datacenterTimeout',
  ]);
  for (const datacenter of ['A', 'B'])
    expect(stuck).toContain(`25.001 s ${datacenter}.manager-1 job.ended timedOut, global`);
  expect(stuck.at(-1)).toBe('25.001 s laptop timedOut, datacenterTimeout, 0 ms added');
});

test('simulate-transfer: money is made out of nothing, until accounts remember what they booked', async () => {
  const lines = await linesOf(simulateTransfer);
  const text = lines.join('\n');
  expect(lines[0]).toBe('a transfer of 10 € by itself: 90 € and 110 €');
  expect(text).toMatch(/seed \d+ breaks "no money is made, and none is lost"\n {2}there are \d+ €/);
  expect(text).toMatch(
    /It takes 2 steps and 1 fault:\n {4}step "open accounts"\n {4}step "transfer/,
  );
  expect(text).toContain('simulate({ ...options, plan: {"seed":');
  const [, careful] = text.split('accounts that remember what they have booked:\n');
  expect(careful).toMatch(/^40 runs[^\n]+\nNo invariant was broken\.$/);
});

test('standby: the second process goes on with what the first had on disk', async () => {
  const lines = await linesOf(standby);
  const until = /until (\S+)/.exec(lines[2] ?? '')?.[1];
  expect(until).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
  expect(lines).toEqual([
    'shop-1: hosts the shop',
    'shop-2: stands by',
    `shop-1: order/1 is paid, order/2 has until ${until}`,
    'shop-1 is killed',
    'shop-2: hosts the shop',
    'shop-2: order/1@shop is paid',
    `shop-2: order/2@shop is awaitingPayment until ${until}`,
    'shop-2: order/2@shop is expired',
  ]);
});

test('http-api: a job is submitted, watched and read over HTTP, beside the service itself', async () => {
  expect(await linesOf(httpApi)).toEqual([
    'the service says: greetings',
    '201 /jobs-api/v1/jobs/greeting-1',
    'the job is completed',
    'its result is: Hello, Ada!',
  ]);
});

test.each([
  ['http-express', httpExpress],
  ['http-fastify', httpFastify],
])('%s: the API answers beside the routes of the application', async (_name, main) => {
  expect(await linesOf(main)).toEqual([
    'the application: {"greeting":"Hello, Ada!"}',
    'the API: {"jobs":[],"cursor":null}',
  ]);
});

describe('http-server', () => {
  let base = '';
  let close: () => Promise<void>;

  beforeAll(async () => {
    const shop = await createRuntime({ kinds: { order: orderMachine } });
    const server = createShopServer(shop);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    close = async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await shop.stop();
    };
  });
  afterAll(() => close());

  const place = (body: string) => fetch(`${base}/orders`, { method: 'POST', body });
  const pay = (path: string | null, key: string) =>
    fetch(`${base}${path}/pay`, { method: 'POST', headers: { 'idempotency-key': key } });

  test('places an order, is paid once however often it is told, and shows it', async () => {
    const placed = await place('{"total": 99}');
    const path = placed.headers.get('location');
    expect(placed.status).toBe(201);
    expect(await placed.json()).toMatchObject({ state: 'awaitingPayment', total: 99 });

    const [first, second] = [await pay(path, 'key-1'), await pay(path, 'key-1')];
    expect([first.status, second.status]).toEqual([200, 200]);
    const paid = await first.json();
    expect(paid).toMatchObject({ state: 'paid', paidAt: expect.stringMatching(/Z$/) });
    expect(await second.json()).toEqual(paid);
    expect(await (await fetch(`${base}${path}`)).json()).toEqual(paid);
    expect((await pay(path, 'key-2')).status).toBe(409);

    const listed = await (await fetch(`${base}/orders?state=paid`)).json();
    expect(listed).toMatchObject({ orders: [{ state: 'paid' }], cursor: null });
  });

  test('says what is wrong with a request', async () => {
    const path = (await place('{"total": 1}')).headers.get('location');
    expect((await place('{"total": -1}')).status).toBe(422);
    expect((await place('nonsense')).status).toBe(422);
    expect((await fetch(`${base}/orders/none`)).status).toBe(404);
    expect((await pay('/orders/none', 'key')).status).toBe(404);
    expect((await pay(path, 'no key')).status).toBe(400);
    expect((await fetch(`${base}/nothing`)).status).toBe(404);
    expect((await fetch(`${base}/orders`, { method: 'DELETE' })).status).toBe(405);
  });
});

test('every example is run here and says how to run it by hand', () => {
  // The files of a cluster are started by test/cli/start-cluster.test.ts.
  const isProgram = (path: string) => /^examples\/[^/]+$/.test(path);
  const examples = listProjectFiles().filter(isProgram);
  const here = readProjectFile('test/package/examples.test.ts');
  expect(examples.filter((path) => !here.includes(`'../../${path}'`))).toEqual([]);
  const isRunnable = (path: string) =>
    /^ \* {3}(npx tsx examples|npm start)/m.test(readProjectFile(path));
  expect(examples.filter((path) => !isRunnable(path))).toEqual([]);
});
