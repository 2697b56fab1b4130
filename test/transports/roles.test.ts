/** Roles that a certificate or a secret gives a node, at either end of a connection. */

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { JOBS_ROLES, jobsPeer } from '../../programs/jobs/peer-roles.ts';
import { CLIENT_ROLE, NODE_ROLE } from '../../runtime/ports/peer-role.ts';
import { type WebSocketOptions, websocketTransport } from '../../transports/websocket.ts';
import { type CertificateAuthority, certificateAuthority, hasOpenssl } from './certificates.ts';
import { SECRET } from './socket-network.ts';

const opened: Array<{ stop(): Promise<void> }> = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.stop()));
});

async function open(options: WebSocketOptions) {
  const refusals: string[] = [];
  let told = (): void => {};
  const settled = new Promise<void>((resolve) => {
    told = resolve;
  });
  const transport = websocketTransport({
    roles: JOBS_ROLES,
    onUnreached: (_url, reason) => {
      refusals.push(reason);
      told();
    },
    ...options,
  });
  opened.push(transport);
  await transport.start({ peerUp: () => told(), peerDown() {}, frameReceived() {} });
  return { transport, refusals, settled };
}

/** Why the caller is not connected to the listener; nothing when it is. */
async function meet(
  listener: Partial<WebSocketOptions>,
  caller: Partial<WebSocketOptions> & { readonly node: string },
): Promise<string | undefined> {
  const there = await open({
    node: 'A.manager-1',
    role: 'manager',
    place: 'A',
    listen: { port: 0 },
    ...listener,
  });
  const here = await open({ peers: [there.transport.url as string], ...caller });
  await here.settled;
  return here.refusals[0];
}

const worker = { node: 'A.worker-1', role: 'worker' } as const;

describe.skipIf(!hasOpenssl())('a certificate', () => {
  let authority: CertificateAuthority;
  beforeAll(() => {
    authority = certificateAuthority();
  });
  afterAll(() => authority.close());
  const tlsOf = (name: string, uri?: string) => ({
    ...authority.issue(name, 'localhost', uri === undefined ? {} : { uri }),
    ca: authority.ca,
    requireClientCertificate: true,
  });
  const meetAs = (
    tls: WebSocketOptions['tls'],
    node: string,
    role: string,
    place: string = node,
    listener = tlsOf('A.manager-1'),
  ) => meet({ tls: listener }, { node, role, place, ...(tls && { tls }) });

  test('of a worker lets its holder be that worker and nothing else', async () => {
    const tls = tlsOf('A.worker-1');
    expect(await meetAs(tls, 'A.worker-1', 'worker')).toBeUndefined();
    for (const [node, role, place] of [
      ['A.worker-2', 'worker', 'A.worker-2'],
      ['A.worker-1', 'worker', 'A'],
      ['A.worker-1', 'gate', 'gate'],
      ['A.worker-1', 'gate', 'A.worker-1'],
      ['A.worker-1', 'manager', 'A'],
      ['A.worker-1', 'node', 'A'],
      ['A.worker-1', 'node', 'A.worker-1'],
    ] as const)
      expect(await meetAs(tls, node, role, place)).toBe('403: the certificate says something else');
  });

  test('that says a role, a place and a name is good for these alone', async () => {
    const tls = tlsOf('edge-7', 'escapement:manager/A/edge-7');
    expect(await meetAs(tls, 'edge-7', 'manager', 'A')).toBeUndefined();
    for (const [node, role, place] of [
      ['edge-7', 'manager', 'B'],
      ['edge-7', 'gate', 'A'],
      ['edge-7', 'worker', 'edge-7'],
      ['edge-7', 'node', 'edge-7'],
      ['edge-8', 'manager', 'A'],
    ] as const)
      expect(await meetAs(tls, node, role, place)).toBe('403: the certificate says something else');
  });

  test('of a listener has to say what the listener says, too', async () => {
    const refusal = await meetAs(
      tlsOf('A.worker-1'),
      'A.worker-1',
      'worker',
      'A.worker-1',
      tlsOf('A.manager-1', 'escapement:worker/A.manager-1/A.manager-1'),
    );
    expect(refusal).toBe('its certificate says something else');
  });

  test('of a process of own kinds is shown the tokens of its clients', async () => {
    const roles = [CLIENT_ROLE, NODE_ROLE];
    const there = { node: 'shop', role: 'node', place: 'shop', roles };
    const clientOf = (token?: string) => (token === 'of-ann' ? { name: 'ann' } : undefined);
    const tls = tlsOf('shop', 'escapement:node/shop/shop');
    const ann = { node: 'ann~1', role: 'client', token: 'of-ann', roles, tls: tlsOf('ann') };
    expect(await meet({ ...there, tls, clientOf }, ann)).toBeUndefined();
  });

  test('of a worker is shown no token', async () => {
    const shown: Array<string | undefined> = [];
    const client = (listener: ReturnType<typeof tlsOf>) =>
      meet(
        {
          tls: listener,
          clientOf: (token) => {
            shown.push(token);
            return { name: 'ann' };
          },
        },
        { node: 'ann~1', role: 'client', token: 'the-token-of-ann', tls: tlsOf('ann') },
      );
    for (const uri of [undefined, 'escapement:worker/A.worker-1/A.worker-1'])
      expect(await client(tlsOf('A.worker-1', uri))).toBe(
        'its certificate is not that of a gate or a manager',
      );
    expect(shown).toEqual([]);
    expect(await client(tlsOf('A.manager-1', 'escapement:manager/A/A.manager-1'))).toBeUndefined();
    expect([...new Set(shown)]).toEqual(['the-token-of-ann']);
  });
});

describe('a secret for each role', () => {
  const secretOf = (role: string) => `${role}: ${SECRET}`;
  const all = { worker: secretOf('worker'), gate: secretOf('gate'), manager: secretOf('manager') };

  test('lets a worker in as a worker, and as nothing greater', async () => {
    const secrets = { worker: all.worker };
    expect(await meet({ secrets: all }, { ...worker, secrets })).toBeUndefined();
    for (const role of ['gate', 'manager', 'node'] as const)
      for (const guess of [secrets, { [role]: all.worker }])
        expect(await meet({ secrets: all }, { node: 'x', role, secrets: guess })).toMatch(/^401/);
  });

  test('lets gates and managers in by theirs', async () => {
    const { gate, manager } = all;
    const asGate = { node: 'gate', role: 'gate', secrets: { gate } } as const;
    expect(await meet({ secrets: all }, asGate)).toBeUndefined();
    const asManager = { node: 'A.manager-2', role: 'manager', place: 'A' } as const;
    expect(await meet({ secrets: all }, { ...asManager, secrets: { gate } })).toMatch(/^401/);
    expect(await meet({ secrets: all }, { ...asManager, secrets: { manager } })).toBeUndefined();
  });

  test('goes beside one that all know, for the roles that have none', async () => {
    const secrets = { worker: all.worker };
    const gate = { node: 'gate', role: 'gate', secret: SECRET } as const;
    expect(await meet({ secret: SECRET, secrets }, gate)).toBeUndefined();
    expect(await meet({ secret: SECRET, secrets }, { ...worker, secret: SECRET })).toMatch(/^401/);
  });

  test('is as long as any other', () => {
    for (const secrets of [{ worker: 'short' }, { client: SECRET }, { king: SECRET }])
      expect(() => websocketTransport({ node: 'a', roles: JOBS_ROLES, secrets })).toThrow(
        expect.objectContaining({ code: 'OPTION_INVALID' }),
      );
  });
});

describe('roles that a program declares', () => {
  const deckhand = { ...NODE_ROLE, name: 'deckhand', hostsPlace: false, reads: 'nothing' } as const;
  const captain = { ...NODE_ROLE, name: 'captain', isInNames: true };
  const roles = [CLIENT_ROLE, deckhand, captain];
  const ship = { node: 'brig', role: 'captain', place: 'brig', roles, secret: SECRET };

  test('are proved, and come with their rights', async () => {
    const there = await open({ ...ship, listen: { port: 0 } });
    const peers = [there.transport.url as string];
    const here = await open({ node: 'jim', role: 'deckhand', roles, secret: SECRET, peers });
    await here.settled;
    expect(here.transport.identityOf('brig')).toEqual({
      role: 'captain',
      place: 'brig',
      rights: captain,
    });
    expect(there.transport.identityOf('jim')).toEqual({
      role: 'deckhand',
      place: 'jim',
      rights: deckhand,
    });
  });

  test('have secrets in the order in which they stand', async () => {
    const secrets = { deckhand: `deckhand: ${SECRET}`, captain: `captain: ${SECRET}` };
    const there = { ...ship, secret: undefined as never, secrets };
    const { deckhand: lesser } = secrets;
    const jim = { node: 'jim', roles, secrets: { deckhand: lesser, captain: lesser } };
    expect(await meet(there, { ...jim, role: 'deckhand' })).toBeUndefined();
    expect(await meet(there, { ...jim, role: 'captain' })).toMatch(/^401/);
  });

  test('let nobody in who comes in another', async () => {
    const refusal = await meet(ship, { node: 'A.worker-1', roles: JOBS_ROLES, role: 'worker' });
    expect(refusal).toBe('400: the handshake does not say who is there');
    const clientOf = () => ({ name: 'ann' });
    const ann = { node: 'ann~1', role: 'client', roles: [CLIENT_ROLE, NODE_ROLE] };
    expect(await meet({ ...ship, clientOf }, ann)).toBe(
      'it names no role that this client knows ("roles")',
    );
  });

  test.each([
    ['none', []],
    ['two of one name', [captain, captain]],
    ['a name with a hyphen', [{ ...captain, name: 'first-mate' }]],
    ['what is no role', [null]],
  ])('are not %s', (_, wrong) => {
    expect(() => websocketTransport({ ...ship, roles: wrong as never })).toThrow(
      '"roles" must be a list of roles',
    );
  });

  test('are named where one is used that is not among them', () => {
    expect(() => websocketTransport({ ...ship, role: 'manager' })).toThrow(
      '"manager" is no role of a peer: "roles" has client, deckhand, captain',
    );
  });
});

test('anybody who was dialled is asked for, too', async () => {
  const asked: object[] = [];
  const refusal = await meet(
    { secret: SECRET },
    {
      ...worker,
      secret: SECRET,
      admit: (peer) => {
        asked.push(peer);
        return 'not wanted here';
      },
    },
  );
  expect(refusal).toBe('not wanted here');
  expect(asked).toEqual([{ node: 'A.manager-1', ...jobsPeer('manager', 'A') }]);
});

describe('a boot epoch', () => {
  const DAY_MS = 86_400_000;

  test('far ahead of the clock lets nobody in, at either end, and locks nobody out', async () => {
    const ahead = Date.now() + 2 * DAY_MS;
    for (const bootEpoch of [ahead, 2 ** 48, 9_007_199_254_740_991]) {
      const there = await open({ node: 'm', listen: { port: 0 }, secret: SECRET });
      const peers = [there.transport.url as string];
      const forger = await open({ ...worker, secret: SECRET, peers, bootEpoch });
      await forger.settled;
      expect(forger.refusals[0]).toMatch(/^403: the boot epoch is too far ahead/);
      const rightful = await open({ ...worker, secret: SECRET, peers });
      await rightful.settled;
      expect([rightful.refusals, rightful.transport.peers()]).toEqual([[], ['m']]);
    }
    const refusal = await meet({ secret: SECRET, bootEpoch: ahead }, { ...worker, secret: SECRET });
    expect(refusal).toMatch(/^the boot epoch is too far ahead/);
  });

  test('may be ahead by as much as its limit', async () => {
    const limits = { bootAheadMaxMs: 10 * DAY_MS };
    const bootEpoch = Date.now() + 2 * DAY_MS;
    const options = { secret: SECRET, limits };
    expect(await meet(options, { ...worker, ...options, bootEpoch })).toBeUndefined();
  });
});
