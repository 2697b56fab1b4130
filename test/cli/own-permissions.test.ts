/**
 * Permissions at a node of own kinds: every role, over HTTP and over a socket, with tokens for all actors
 * and for some. What is expected is written by hand, and not read from the product's table.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRuntime } from '../../create-runtime.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { websocketTransport } from '../../transports/websocket.ts';
import { OwnProject } from './own-project.ts';
import { ANYWHERE, SECRET_ENV, until } from './started-cluster.ts';
import { StartedNode } from './started-node.ts';

const KINDS = `
import { setup } from 'xstate';
const visited = setup({}).createMachine({ initial: 'new', states: { new: { on: { visit: 'seen' } }, seen: { on: { visit: 'seen' } } } });
export const kinds = { order: visited, ticket: { machine: visited, openToClients: true } };
`;
const ROLES = ['reader', 'submitter', 'operator'] as const;
/** Those of a team have tokens for some actors only. */
const CLIENTS = [...ROLES, ...ROLES.map((role) => `team-${role}`)];
const tokenOf = (client: string) => `the-token-of-${client}`;

let project: OwnProject;
let node: StartedNode;
const sockets = new Map<string, Runtime>();

beforeAll(async () => {
  project = await OwnProject.create();
  project.write('kinds.mjs', KINDS);
  const clients = CLIENTS.map((name) => {
    project.write(name, tokenOf(name));
    const actors = name.startsWith('team-') ? ', actors: [order/team., ticket/team.]' : '';
    return `{name: ${name}, role: ${name.replace('team-', '')}, tokenFile: ${name}${actors}}`;
  });
  const config = project.write(
    'node.yml',
    `node: shop\nkinds: kinds.mjs\ndata: memory\nclients: [${clients.join(', ')}]\n`,
  );
  const args = ['node', '--config', config, ...ANYWHERE];
  node = await StartedNode.serving(args, { env: SECRET_ENV, cwd: project.folder });
  for (const client of CLIENTS) {
    const name = `${client}~1`;
    const peers = [node.peerUrl];
    const transport = websocketTransport({
      node: name,
      role: 'client',
      peers,
      token: tokenOf(client),
    });
    sockets.set(client, await createRuntime({ node: name, transport, telemetry: false }));
    await until(
      async () => transport.peers(),
      (connected) => connected.length > 0,
    );
  }
});
afterAll(async () => {
  for (const runtime of sockets.values()) await runtime.stop();
  await node?.kill();
  project?.remove();
});

const ask = (client: string, method: string, path: string, body?: object) =>
  node.ask(method, path, body, { authorization: `Bearer ${tokenOf(client)}` });

let names = 0;
/** An actor of the team's or of others, for one question only. */
async function newActor(kind: string, isOwn: boolean): Promise<string> {
  names += 1;
  const address = `${kind}/${isOwn ? 'team' : 'other'}.${names}@shop`;
  expect((await ask('operator', 'POST', '/v1/actors', { address })).status).toBe(201);
  return address;
}

async function stateOf(address: string): Promise<string | undefined> {
  const { body } = await ask('operator', 'GET', `/v1/actors/${address}`);
  return body.snapshot?.value;
}

const isTeam = (client: string) => client.startsWith('team-');
const rankOf = (client: string) =>
  ROLES.indexOf(client.replace('team-', '') as (typeof ROLES)[number]);

describe.each(CLIENTS)('a %s', (client) => {
  test('looks at the actors that its token is for', async () => {
    for (const isOwn of [true, false]) {
      const address = await newActor('order', isOwn);
      const expected = isTeam(client) && !isOwn ? 403 : 200;
      for (const of of ['actors', 'explain', 'history'])
        expect((await ask(client, 'GET', `/v1/${of}/${address}`)).status, of).toBe(expected);
      const { body } = await ask(client, 'GET', '/v1/actors?limit=500');
      const listed = body.actors.map((actor: { address: string }) => actor.address);
      expect(listed.includes(address)).toBe(expected === 200);
      // Whether an actor is there nobody learns who may not see it.
      const absent = address.replace(/\d+@/, '0@');
      expect((await ask(client, 'GET', `/v1/actors/${absent}`)).status).toBe(
        expected === 200 ? 404 : 403,
      );
    }
  });

  test('looks at what is about all actors with a token for all', async () => {
    for (const path of ['/v1/timers', '/v1/undelivered', '/v1/waiting', '/metrics'])
      expect((await ask(client, 'GET', path)).status, path).toBe(isTeam(client) ? 403 : 200);
  });

  test.each(['order', 'ticket'])('sends to a %s, or begins one, as it may', async (kind) => {
    for (const isOwn of [true, false]) {
      const least = kind === 'ticket' ? 1 : 2;
      const may = rankOf(client) >= least && (!isTeam(client) || isOwn);
      const address = await newActor(kind, isOwn);
      const sent = await ask(client, 'POST', `/v1/actors/${address}`, { type: 'visit' });
      expect(sent.status).toBe(may ? 200 : 403);
      expect(await stateOf(address)).toBe(may ? 'seen' : 'new');
      const born = `${address.replace('@shop', '')}.b`;
      const begun = await ask(client, 'POST', '/v1/actors', { address: born });
      expect(begun.status).toBe(may ? 201 : 403);
      expect(await stateOf(born)).toBe(may ? 'new' : undefined);
    }
  });

  test('orders about an actor what an operator may', async () => {
    for (const isOwn of [true, false]) {
      const may = rankOf(client) === 2 && (!isTeam(client) || isOwn);
      const address = await newActor('ticket', isOwn);
      const statuses = [];
      for (const order of ['revive', 'end', 'forget'])
        statuses.push((await ask(client, 'POST', `/v1/${order}/${address}`, {})).status);
      // It is active, so that there is nothing to revive.
      expect(statuses).toEqual(may ? [409, 200, 200] : [403, 403, 403]);
      expect(await stateOf(address)).toBe(may ? undefined : 'new');
    }
  });

  test('sends over a socket what it may send over HTTP to an open kind', async () => {
    const socket = sockets.get(client) as Runtime;
    for (const isOwn of [true, false]) {
      const may = rankOf(client) >= 1 && (!isTeam(client) || isOwn);
      const address = await newActor('ticket', isOwn);
      const codeOf = (asked: Promise<unknown>) =>
        asked.then(
          () => 'done',
          ({ code }) => code,
        );
      const expected = may ? 'done' : 'NOT_ALLOWED';
      const visit = { type: 'visit' };
      expect(await codeOf(socket.actor(address).send(visit, { timeoutMs: 20_000 }))).toBe(expected);
      expect(await stateOf(address)).toBe(may ? 'seen' : 'new');
      const born = address.replace('@shop', '.b@shop');
      expect(await codeOf(socket.spawn(born))).toBe(expected);
      expect(await stateOf(born)).toBe(may ? 'new' : undefined);
    }
  });
});

test('without a token nobody gets in, over HTTP or a socket', async () => {
  expect((await node.ask('GET', '/v1/actors')).status).toBe(401);
  const unreached = new Promise<number | undefined>((resolve, reject) => {
    const transport = websocketTransport({
      ...{
        node: 'nobody~1',
        role: 'client',
        peers: [node.peerUrl],
        token: 'a-token-of-nobody-at-all',
      },
      onUnreached: (_url, _reason, status) => {
        resolve(status);
        void transport.stop();
      },
    });
    const deaf = { peerUp: reject, peerDown() {}, frameReceived() {} };
    transport.start(deaf).catch(reject);
  });
  expect(await unreached).toBe(401);
});
