import { describe, expect, test, vi } from 'vitest';
import { inProcessNetwork } from '../../transports/in-process.ts';
import { socketNetwork } from '../transports/socket-network.ts';
import { describeTransport } from './describe-transport.ts';

describeTransport('the in-process transport', async () => {
  const network = inProcessNetwork();
  return {
    join: async (node) => network.join(node),
    cut: async (node, other) => network.cut(node, other),
    heal: async (node, other) => network.heal(node, other),
    close: async () => {},
  };
});

describeTransport('the WebSocket transport', () => socketNetwork());

describe('the in-process network', () => {
  const listen = () => ({ peerUp: vi.fn(), peerDown: vi.fn(), frameReceived: vi.fn() });
  const microtasks = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };

  async function startPair(frameBytesMax = 1_000) {
    const network = inProcessNetwork({ frameBytesMax });
    const [a, b] = [network.join('a'), network.join('b')];
    const [atA, atB] = [listen(), listen()];
    await a.start(atA);
    await b.start(atB);
    await microtasks();
    return { network, a, b, atA, atB };
  }

  test('refuses a name that is taken, until its transport is stopped', async () => {
    const network = inProcessNetwork();
    const first = network.join('a');
    expect(() => network.join('a')).toThrow('A node named "a" is in this network.');
    await first.stop();
    expect(network.join('a').peers()).toEqual([]);
  });

  test('refuses a frame over the limit, measured in bytes, and names the limit', async () => {
    const { a, atB } = await startPair();
    expect(a.send('b', 'x'.repeat(1_000))).toBe(true);
    expect(() => a.send('b', 'x'.repeat(1_001))).toThrow(/1001 bytes .* frameBytesMax \(1000\)/);
    expect(() => a.send('b', '€'.repeat(334))).toThrow(RangeError);
    await microtasks();
    expect(atB.frameReceived).toHaveBeenCalledTimes(1);
  });

  test('loses what is in flight when the link is cut, also when it is healed at once', async () => {
    const { network, a, atA, atB } = await startPair();
    a.send('b', 'in flight');
    network.cut('b', 'a');
    network.heal('a', 'b');
    await microtasks();
    expect(atB.frameReceived).not.toHaveBeenCalled();
    expect(atA.peerUp).toHaveBeenCalledTimes(2);
    expect(atA.peerDown).toHaveBeenCalledTimes(1);
  });

  test('keeps nodes apart that were cut before they joined', async () => {
    const network = inProcessNetwork();
    network.cut('a', 'b');
    const [a, b] = [network.join('a'), network.join('b')];
    const atA = listen();
    await a.start(atA);
    await b.start(listen());
    await microtasks();
    expect(a.send('b', 'frame')).toBe(false);
    network.heal('a', 'b');
    await microtasks();
    expect(atA.peerUp).toHaveBeenCalledWith('b');
  });

  test('tells of no peer that was gone before it could be told', async () => {
    const { network, atA } = await startPair();
    const c = network.join('c');
    const started = c.start(listen());
    await Promise.all([started, c.stop()]);
    await microtasks();
    expect(atA.peerUp.mock.calls).toEqual([['b']]);
    expect(atA.peerDown).not.toHaveBeenCalled();
  });

  test('loses what is in flight to a node that stops', async () => {
    const { a, b, atA, atB } = await startPair();
    a.send('b', 'in flight');
    await b.stop();
    await microtasks();
    expect(atB.frameReceived).not.toHaveBeenCalled();
    expect(atB.peerDown).not.toHaveBeenCalled();
    expect(atA.peerDown.mock.calls).toEqual([['b']]);
  });

  test('goes on after a listener that threw', async () => {
    const { a, b, atA, atB } = await startPair();
    const thrown: unknown[] = [];
    const catchThrown = (error: unknown) => thrown.push(error);
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', catchThrown);
    atB.frameReceived.mockImplementationOnce(() => {
      throw new Error('listener');
    });
    a.send('b', 'first');
    b.send('a', 'second');
    a.send('b', 'third');
    await new Promise(setImmediate);
    process.removeAllListeners('uncaughtException');
    for (const other of others) process.on('uncaughtException', other);
    expect(thrown).toEqual([new Error('listener')]);
    expect(atA.frameReceived.mock.calls).toEqual([['b', 'second']]);
    expect(atB.frameReceived.mock.calls).toEqual([
      ['a', 'first'],
      ['a', 'third'],
    ]);
  });

  test('can be started once', async () => {
    const { a } = await startPair();
    await expect(a.start(listen())).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining('can be started once'),
    });
  });
});
