/** Allowance of a peer that has proved who it is: messages are counted, however they are batched. */

import { describe, expect, test } from 'vitest';
import { jobsPeer } from '../../programs/jobs/peer-roles.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { type RuntimeLimits, resolveLimits } from '../../runtime/base/limits.ts';
import { PeerConduct } from '../../runtime/delivery/peer-conduct.ts';
import type { PeerIdentity } from '../../runtime/ports/transport.ts';
import { SimulatedClock, testRuntime } from '../../simulator/testing.ts';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { KINDS } from './clerk.ts';
import { provingTransport } from './proving-transport.ts';

const WORKER: PeerIdentity = jobsPeer('worker', 'w');
const CLIENT: PeerIdentity = jobsPeer('client', 'ann~1');

function conductOf(identity: PeerIdentity | undefined) {
  const clock = new SimulatedClock();
  const conduct = new PeerConduct('w', identity, { clock, limits: resolveLimits() }, () => {});
  const isTaken = (messages: number): boolean => {
    try {
      conduct.spend(messages);
      return true;
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(RuntimeError);
      expect(thrown).toMatchObject({ code: 'PEER_FLOODED', retryable: false });
      return false;
    }
  };
  return { clock, isTaken };
}

describe('H40: the allowance of a peer', () => {
  test('lets 300,000 messages a second pass for ever, in batches or one by one', () => {
    const { clock, isTaken } = conductOf(WORKER);
    for (let second = 0; second < 60; second += 1) {
      for (let batch = 0; batch < 100; batch += 1) expect(isTaken(3_000)).toBe(true);
      clock.advanceTo(clock.now() + 1_000);
    }
    for (let count = 0; count < 300_000; count += 1) isTaken(1);
    expect(isTaken(1)).toBe(true);
  });

  test('ends at 500,000 in one second', () => {
    const { clock, isTaken } = conductOf(WORKER);
    expect(isTaken(500_000)).toBe(true);
    expect(isTaken(1)).toBe(false);
    clock.advanceTo(clock.now() + 500);
    expect(isTaken(250_001)).toBe(false);
    expect(isTaken(250_000)).toBe(true);
  });

  test('ends at 100 in one minute for a client', () => {
    const { clock, isTaken } = conductOf(CLIENT);
    for (let count = 0; count < 100; count += 1) expect(isTaken(1)).toBe(true);
    expect(isTaken(1)).toBe(false);
    clock.advanceTo(clock.now() + 600);
    expect(isTaken(1)).toBe(true);
    expect(isTaken(1)).toBe(false);
  });

  test('has no end for a peer that has proved nothing', () => {
    const { isTaken } = conductOf(undefined);
    expect(isTaken(10 ** 9)).toBe(true);
  });
});

describe('H40: a peer that says more than it may', () => {
  async function start(identity: PeerIdentity, limits: Partial<RuntimeLimits>) {
    const clock = new SimulatedClock();
    const network = inProcessNetwork();
    const expelled: string[] = [];
    const rt = await testRuntime({
      kinds: KINDS,
      options: { clerk: { openToClients: true } },
      node: 'a',
      clock,
      limits,
      transport: () =>
        provingTransport(network.join('a'), {
          identityOf: () => identity,
          expelled: (node, reason) => expelled.push(`${node}: ${reason}`),
        }),
    });
    await rt.spawn('listener/l');
    await rt.spawn('clerk/c');
    const peer = network.join(identity.place);
    const answers: string[] = [];
    await peer.start({
      peerUp() {},
      peerDown() {},
      frameReceived: (_, frame) => void answers.push(frame),
    });
    const say = async (...envelopes: readonly object[]) => {
      peer.send('a', JSON.stringify({ v: 1, envelopes }));
      await rt.settle();
    };
    return { rt, say, expelled, answers };
  }

  test('is sent away, and nothing of what came too much is heard', async () => {
    const { rt, say, expelled } = await start(WORKER, { peerMessagesPerSecond: 3 });
    const heard = (number: number) => ({
      to: 'listener/l@a',
      from: 'worker/1@w',
      counter: 0,
      after: 0,
      event: { type: 'heard', from: 'peer', number },
    });
    await say(heard(1), heard(2), heard(3));
    await rt.advance('1s');
    await say(heard(4), heard(5));
    expect(expelled).toEqual([]);
    await say(heard(6), heard(7));
    await say(heard(8));
    expect(expelled).toEqual(['w: The worker "w" sends more messages than it may.']);
    expect(rt.runtime.metrics()).toMatchObject({ peersExpelled: 1, framesMalformed: 0 });
    expect(rt.actor('listener/l').getSnapshot().context.heard).toEqual({ peer: [1, 2, 3, 4, 5] });
    await rt.actor('listener/l').send({ type: 'heard', from: 'code', number: 1 });
  });

  test('is a client with its hundred-and-first question', async () => {
    const { rt, say, expelled, answers } = await start(CLIENT, {});
    const question = {
      to: 'clerk/c@a',
      from: 'session:1@ann~1',
      counter: 0,
      after: 0,
      event: { type: 'now', replyTo: 'ask/1@ann~1' },
    };
    const answered = () => answers.join().split('here you are').length - 1;
    for (let count = 0; count < 50; count += 1) await say(question, question);
    expect([answered(), expelled]).toEqual([100, []]);
    await say(question);
    expect(answered()).toBe(100);
    expect(expelled).toEqual(['ann~1: The client "ann~1" sends more messages than it may.']);
    expect(rt.runtime.metrics()).toMatchObject({ peersExpelled: 1 });
  });
});
