/** Views over several nodes: one list page by page, counts together, each under its own rights, and who is missing. */

import { afterEach, expect, test } from 'vitest';
import { type JobsRole, jobsPeer } from '../../../programs/jobs/peer-roles.ts';
import { inProcessNetwork } from '../../../transports/in-process.ts';
import { provingTransport } from '../../delivery/proving-transport.ts';
import { eventually } from '../../kit/eventually.ts';
import { call, type Inspected, inspected } from './inspected.ts';

const open: Inspected[] = [];
afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
});

/** Nodes by their names, each of the role, with this many orders in a place of its own. */
async function nodes(roles: Readonly<Record<string, JobsRole>>, orders: number) {
  const network = inProcessNetwork();
  const claimOf = (node: string) => ({ node, ...jobsPeer(roles[node] as JobsRole, node) });
  for (const [name] of Object.entries(roles)) {
    const node = await inspected(
      { role: roles[name] as string },
      {
        node: name,
        place: name,
        transport: provingTransport(network.join(name), {
          own: claimOf(name),
          identityOf: claimOf,
        }),
      },
    );
    open.push(node);
    for (let index = 0; index < orders; index += 1)
      await node.runtime.spawn(`order/${String(index).padStart(2, '0')}` as never);
  }
  return open;
}

const PLACES = ['gate-1', 'A', 'B'];

test.each([
  ['gate', { 'gate-1': 'gate', A: 'manager', B: 'manager' }],
  ['process of one’s own kinds', { 'gate-1': 'node', A: 'node', B: 'node' }],
] as const)('a %s shows the actors of all nodes, page by page', async (_, roles) => {
  const [{ port }] = (await nodes(roles, 12)) as [Inspected];
  await eventually(async () => {
    const { body } = await call(port, '/api/overview');
    expect(body.missing).toEqual([]);
    expect(body.nodes).toHaveLength(3);
    expect(body.kinds).toMatchObject([{ kind: 'order', active: 36 }]);
  });
  for (const sort of ['address', 'deadline', 'turnAt']) {
    const seen: string[] = [];
    let cursor = '';
    do {
      const query = new URLSearchParams({ limit: '5', sort, ...(cursor && { cursor }) });
      const { body } = await call(port, `/api/actors?${query}`);
      expect(body.rows.length).toBeLessThanOrEqual(5);
      seen.push(...body.rows.map(({ address }: { address: string }) => address));
      cursor = body.cursor ?? '';
    } while (cursor !== '');
    expect(new Set(seen).size).toBe(36);
    expect(seen).toHaveLength(36);
    if (sort === 'address') expect(seen).toEqual(seen.toSorted());
  }
  const found = await call(port, '/api/actors?text=order/07&limit=5');
  expect(found.body.rows.map(({ place }: { place: string }) => place).sort()).toEqual(
    PLACES.toSorted(),
  );
  const { body } = await call(port, '/api/actor?address=order/03@B');
  expect(body.actor).toMatchObject({
    node: 'B',
    context: { value: { apiToken: '[redacted]' } },
  });
});

test('a worker and a client are told nothing of others, and say so', async () => {
  const [{ port }] = (await nodes({ w: 'worker', A: 'manager' }, 1)) as [Inspected];
  await eventually(async () => {
    const { body } = await call(port, '/api/overview');
    expect(body.missing).toMatchObject([{ node: 'A', why: expect.stringContaining('worker') }]);
  });
});

test('a cursor that is none is refused', async () => {
  const [{ port }] = (await nodes({ A: 'node', B: 'node' }, 1)) as [Inspected];
  await eventually(async () => {
    const { body } = await call(port, '/api/overview');
    expect(body.nodes).toHaveLength(2);
  });
  for (const cursor of ['order/1@A', '{"A":{"skip":-1}}', '{"A":{"skip":0,"cursor":7}}', 'null'])
    expect((await call(port, `/api/actors?cursor=${encodeURIComponent(cursor)}`)).status).toBe(400);
});
