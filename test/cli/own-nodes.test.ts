/**
 * `start node`: anybody's machines as processes, over real sockets and directories. They talk across places,
 * stand in for each other, and answer over HTTP.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificateAuthority, hasOpenssl } from '../transports/certificates.ts';
import { OwnProject } from './own-project.ts';
import { ANYWHERE, Cluster, until } from './started-cluster.ts';
import type { StartedNode } from './started-node.ts';

const cluster = new Cluster();
let project: OwnProject;
beforeAll(async () => {
  project = await OwnProject.create();
  project.write('machines.mjs', MACHINES);
});
afterAll(() => project.remove());

/** A till tells a ledger in another place of every sale. */
const MACHINES = `
import { assign, sendTo, setup } from 'xstate';
import { to } from 'escapement/machine';
export const till = setup({}).createMachine({
  context: ({ input }) => ({ ledger: input.ledger, sold: 0 }),
  on: {
    'till.sell': {
      actions: [
        assign({ sold: ({ context }) => context.sold + 1 }),
        sendTo(({ context }) => to(context.ledger), { type: 'ledger.note' }),
      ],
    },
    'till.break': { actions: assign({ sold: () => { throw new Error('broken'); } }) },
  },
});
export const ledger = setup({ delays: { audit: 3_600_000 } }).createMachine({
  context: { noted: 0 },
  initial: 'open',
  states: { open: { after: { audit: 'audited' } }, audited: {} },
  on: { 'ledger.note': { actions: assign({ noted: ({ context }) => context.noted + 1 }) } },
});
`;

const own = (name: string, more: readonly string[]): string[] => [
  ...['node', '--kinds', 'machines.mjs', '--node', name, ...ANYWHERE, ...more],
];
const serving = (args: readonly string[]) => cluster.serving(args, { ...inProject() });
const inProject = () => ({ cwd: project.folder });
const soldAt = async (node: StartedNode, address: string) =>
  (await node.ask('GET', `/v1/actors/${address}`)).body.snapshot?.context;

describe('nodes of own kinds', () => {
  test('talk across places, stand in for each other, and lose nothing', async () => {
    const data = cluster.freshData();
    const shop = ['--place', 'shop', '--data', data];
    const bank = await serving(own('bank', ['--data', 'memory']));
    const dial = ['--peer', bank.peerUrl];
    const first = await serving(own('shop-1', [...shop, ...dial]));
    const second = await serving(own('shop-2', [...shop, ...dial]));
    await second.said('node.standingBy');
    expect((await second.ask('GET', '/readyz')).body).toEqual({ status: 'ready', hosting: false });
    expect(await second.ask('GET', '/v1/actors')).toMatchObject({
      status: 503,
      body: { error: { code: 'notLeader' } },
    });

    await bank.ask('POST', '/v1/actors', { address: 'ledger/main' });
    const input = { ledger: 'ledger/main@bank' };
    const born = await first.ask('POST', '/v1/actors', { address: 'till/1', input });
    expect(born).toMatchObject({ status: 201, body: { address: 'till/1@shop' } });
    for (let sale = 1; sale <= 10; sale += 1) {
      const key = { 'idempotency-key': `sale-${sale}` };
      // Twice each: of one key one is taken.
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const sold = await first.ask('POST', '/v1/actors/till/1', { type: 'till.sell' }, key);
        expect(sold).toMatchObject({ status: 200, body: { accepted: true } });
      }
    }
    await first.kill();
    expect((await second.said('node.hosting')).fence).toBe(2);
    expect(await soldAt(second, 'till/1')).toEqual({ ...input, sold: 10 });
    // What the dead process took is known to its stand-in.
    await second.ask(
      'POST',
      '/v1/actors/till/1',
      { type: 'till.sell' },
      { 'idempotency-key': 'sale-10' },
    );
    expect((await soldAt(second, 'till/1')).sold).toBe(10);
    await until(
      () => soldAt(bank, 'ledger/main'),
      ({ noted }) => noted === 10,
    );
    // A node reads and sends across places.
    expect(await soldAt(second, 'ledger/main@bank')).toEqual({ noted: 10 });

    for (const node of [second, bank]) {
      expect(await node.stop()).toMatchObject({ code: 0, signal: null, err: '' });
      expect(node.lines.map(({ event }) => event).slice(-2)).toEqual([
        'node.draining',
        'node.stopped',
      ]);
    }
  });

  test('answer about their actors, and say why one does not take what it is sent', async () => {
    const node = await serving(own('shop', ['--data', 'memory']));
    for (const name of ['a', 'b', 'c'])
      await node.ask('POST', '/v1/actors', { address: `ledger/${name}` });
    const input = { ledger: 'ledger/nowhere@nowhere' };
    await node.ask('POST', '/v1/actors', { address: 'till/1', input });
    const list = async (query: string) => (await node.ask('GET', `/v1/actors?${query}`)).body;

    const page = await list('kind=ledger&limit=2');
    expect(page.actors.map(({ address }: { address: string }) => address)).toEqual([
      'ledger/a@shop',
      'ledger/b@shop',
    ]);
    const rest = await list(`kind=ledger&state=open&cursor=${page.cursor}`);
    expect(rest).toMatchObject({
      actors: [{ address: 'ledger/c@shop', state: 'open' }],
      cursor: null,
    });
    expect((await list('deadlineBefore=2h')).actors).toHaveLength(3);
    expect((await list('deadlineBefore=1m')).actors).toHaveLength(0);
    expect((await list('status=done')).actors).toHaveLength(0);
    expect((await node.ask('GET', '/v1/timers')).body.timers).toHaveLength(3);

    const { explanation } = (await node.ask('GET', '/v1/explain/ledger/a')).body;
    expect(explanation).toContain('deadline  "audit" of (machine).open is due in');
    const send = (address: string, body: object) => node.ask('POST', `/v1/actors/${address}`, body);
    const refused = async (asked: ReturnType<typeof send>) => {
      const { status, body } = await asked;
      return [status, body.error.code];
    };
    expect(await refused(send('till/2', { type: 'till.sell' }))).toEqual([404, 'notFound']);
    expect(await refused(send('nothing/1', { type: 'till.sell' }))).toEqual([404, 'notFound']);
    expect(await refused(send('till', { type: 'till.sell' }))).toEqual([400, 'invalid']);
    expect(await refused(send('till/1', { type: 'till.unknown' }))).toEqual([400, 'invalid']);
    expect(await refused(send('till/1', { type: 'xstate.done' }))).toEqual([400, 'invalid']);
    expect(await refused(send('till/1', { type: 'till.sell', replyTo: 'ask/1@x' }))).toEqual([
      400,
      'invalid',
    ]);
    expect(await refused(node.ask('POST', '/v1/actors', { address: 'till/1', input }))).toEqual([
      409,
      'conflict',
    ]);
    const again = { address: 'till/1', input, ifAbsent: true };
    expect((await node.ask('POST', '/v1/actors', again)).status).toBe(200);

    expect(await send('till/1', { type: 'till.break' })).toMatchObject({
      status: 422,
      body: {
        error: { code: 'refused', message: expect.stringMatching(/broken.*\(TURN_FAILED\)/) },
      },
    });
    expect((await node.ask('GET', '/v1/undelivered')).body.undelivered).toMatchObject([
      { to: 'till/1@shop', type: 'till.break', error: { code: 'TURN_FAILED' } },
    ]);
    await send('till/1', { type: 'till.sell' });
    const { waiting } = await until(
      async () => (await node.ask('GET', '/v1/waiting')).body,
      ({ waiting: places }) => places.length > 0,
    );
    expect(waiting).toMatchObject([{ place: 'nowhere', node: null, messages: 1 }]);
    const { history } = (await node.ask('GET', '/v1/history/till/1?limit=1')).body;
    expect(history).toMatchObject([{ event: 'till.sell' }]);
    expect((await node.ask('GET', '/healthz')).status).toBe(200);
    expect((await node.ask('GET', '/metrics')).body).toContain(
      'escapement_turns_total{node="shop"',
    );
    expect((await node.ask('GET', '/v1/jobs')).status).toBe(404);
  });
});

describe.skipIf(!hasOpenssl())('nodes of own kinds with certificates', () => {
  test('let in anybody who shows one for a node, and nobody for another role', async () => {
    const authority = certificateAuthority();
    project.write('tls/ca.pem', authority.ca);
    const configure = (name: string, place: string, role: string, text: string) => {
      const uri = `escapement:${role}/${place}/${name}`;
      const { cert, key } = authority.issue(name, 'localhost', { uri });
      project.write(`tls/${name}.pem`, cert);
      project.write(`tls/${name}.key`, key);
      const tls = `tls: {cert: ${name}.pem, key: ${name}.key, ca: ca.pem, requireClientCertificate: true}`;
      const own = `role: node\nkinds: ../machines.mjs\ndata: memory\nnode: ${name}\nplace: ${place}`;
      return ['node', '--config', project.write(`tls/${name}.yml`, `${own}\n${tls}\n${text}\n`)];
    };
    const options = { ...inProject(), env: {} };
    const bank = await cluster.begin(
      configure('bank', 'bank', 'node', 'listen: 0.0.0.0:0'),
      options,
    );
    const { port } = new URL(String((await bank.said('node.listening')).url));
    const dial = `listen: 127.0.0.1:0\nlog: {level: debug}\npeers: [wss://127.0.0.1:${port}/peers]`;
    const shop = await cluster.begin(configure('shop-1', 'shop', 'node', dial), options);
    const isConnected = ({ msg }: Readonly<Record<string, unknown>>) =>
      msg === 'a peer is connected';
    await until(
      async () => shop.lines.filter(isConnected),
      (found) => found.length > 0,
    );
    const stranger = await cluster.begin(configure('odd', 'odd', 'worker', dial), options);
    await until(
      async () =>
        stranger.lines.some(({ msg }) => /could not be reached|refused/.test(String(msg))),
      (isTold) => isTold,
    );
    expect(stranger.lines.filter(isConnected)).toEqual([]);
    authority.close();
  });
});
