/**
 * Claims of peers about fences: which are believed, how far, and what follows for a peer that is not.
 */

import { expect, test } from 'vitest';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import { FENCE_MAX } from '../../runtime/base/fence.ts';
import type { PeerIdentity, Transport } from '../../runtime/ports/transport.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { provingTransport } from './proving-transport.ts';
import { listener } from './talkers.ts';

const PLACE = 'A';
const NODE = 'A.manager-1';

/** A manager of A, and a peer that is `identity` to it and says what it likes. */
async function start(node: string, identity: PeerIdentity) {
  const clock = new SimulatedClock();
  const network = inProcessNetwork();
  const expelled: string[] = [];
  const warnings: string[] = [];
  const rt = await testRuntime({
    kinds: { listener },
    node: NODE,
    place: PLACE,
    clock,
    logger: {
      debug() {},
      info() {},
      warn: (fields, message) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
      error() {},
    },
    transport: () =>
      provingTransport(network.join(NODE), {
        own: { node: NODE, ...jobsPeer('manager', PLACE) },
        identityOf: () => identity,
        expelled: (gone, reason) => expelled.push(`${gone}: ${reason}`),
      }),
  });
  await rt.spawn('listener/l');
  const peer: Transport = network.join(node);
  const answers: string[] = [];
  await peer.start({
    peerUp() {},
    peerDown() {},
    frameReceived: (_, frame) => void answers.push(frame),
  });
  await rt.settle();
  const say = async (hello: object) => {
    const whole = { node, places: [], isAsking: false, ...hello };
    peer.send(NODE, JSON.stringify({ v: 1, hello: whole }));
    await rt.settle();
  };
  const fence = () => rt.runtime.fence;
  return { rt, say, fence, expelled, warnings, answers };
}

const WORKER: PeerIdentity = jobsPeer('worker', 'A.worker-7');
const GATE: PeerIdentity = jobsPeer('gate', 'gate');
const CLIENT: PeerIdentity = jobsPeer('client', 'c~1');
const ELSEWHERE: PeerIdentity = jobsPeer('manager', 'B');
const DISGUISED: PeerIdentity = jobsPeer('worker', PLACE);
const OWN: PeerIdentity = jobsPeer('manager', PLACE);

const STRANGERS: ReadonlyArray<readonly [string, PeerIdentity]> = [
  ['A.worker-7', WORKER],
  ['A.worker-8', DISGUISED],
  ['gate', GATE],
  ['c~1', CLIENT],
  ['B.manager-1', ELSEWHERE],
];

for (const [node, identity] of STRANGERS) {
  for (const known of [2, 50, 10_000, FENCE_MAX, 2 ** 53 - 1])
    for (const isHosted of [true, false])
      test(`a ${identity.role} of ${identity.place} that knows fence ${known} brings nobody down (hosted: ${isHosted})`, async () => {
        const { rt, say, fence, expelled, warnings } = await start(node, identity);
        await say({ outranked: [[PLACE, known, isHosted]] });
        await rt.advance('30s');
        expect([rt.runtime.isHosting, fence()]).toEqual([true, 1]);
        expect(expelled).toHaveLength(1);
        expect(rt.runtime.metrics()).toMatchObject({ peersOverstepped: 1, leasesLost: 0 });
        expect(warnings.join()).toMatch(/peer overstepped its role .*says that fence/);
      });

  test(`a ${identity.role} of ${identity.place} does not claim the place`, async () => {
    const { rt, say, fence, expelled } = await start(node, identity);
    await say({ places: [[PLACE, 7]] });
    await rt.advance('30s');
    expect([rt.runtime.isHosting, fence(), expelled.length]).toEqual([true, 1, 1]);
  });
}

test('a manager of the place is believed within a step', async () => {
  const { rt, say, fence, expelled } = await start('A.manager-2', OWN);
  await say({ outranked: [[PLACE, 9_000, false]] });
  await rt.advance('30s');
  expect([rt.runtime.isHosting, fence(), expelled]).toEqual([true, 9_001, []]);
});

test.each([10_002, FENCE_MAX, FENCE_MAX + 1, 2 ** 53 - 1])(
  'a manager of the place is not believed that fence %i is known, and is sent away',
  async (known) => {
    for (const claim of [{ outranked: [[PLACE, known, false]] }, { places: [[PLACE, known]] }]) {
      const { rt, say, fence, expelled } = await start('A.manager-2', OWN);
      await say(claim);
      await rt.advance('30s');
      expect([rt.runtime.isHosting, fence(), expelled.length]).toEqual([true, 1, 1]);
    }
  },
);

test('a peer may claim any fence of its own name, within the range of fences', async () => {
  const { say, expelled } = await start('A.worker-7', WORKER);
  await say({ places: [['A.worker-7', FENCE_MAX]] });
  expect(expelled).toEqual([]);
  await say({ places: [['A.worker-7', FENCE_MAX + 1]] });
  expect(expelled).toHaveLength(1);
});
