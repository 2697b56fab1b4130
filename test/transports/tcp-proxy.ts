/**
 * A TCP proxy in front of a port, to cut, stall and heal a real connection.
 *
 * Cut: connections are reset and new ones ended at once. Stalled: they stay open and nothing
 * passes, as when a machine vanishes without a word.
 */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  cut(): void;
  stall(): void;
  heal(): void;
  /** Connections through it now. */
  size(): number;
  close(): Promise<void>;
}

/** `target` is asked for each connection; without a port it is ended. */
export async function tcpProxy(target: () => number | undefined): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let state: 'whole' | 'cut' | 'stalled' = 'whole';
  const server = createServer((near) => {
    near.on('error', () => near.destroy());
    const port = target();
    if (state === 'cut' || port === undefined) {
      near.destroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    far.on('error', () => far.destroy());
    const pair = [near, far] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [far, near]] as const) {
      from.on('data', (chunk) => {
        if (!to.write(chunk)) from.pause();
      });
      to.on('drain', () => {
        if (state !== 'stalled') from.resume();
      });
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
      if (state === 'stalled') from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const each = (act: (socket: Socket) => void) => {
    for (const pair of [...pairs]) for (const socket of pair) act(socket);
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut: () => {
      state = 'cut';
      each((socket) => socket.resetAndDestroy());
    },
    stall: () => {
      state = 'stalled';
      each((socket) => socket.pause());
    },
    heal: () => {
      state = 'whole';
      each((socket) => socket.resume());
    },
    size: () => pairs.size,
    close: async () => {
      each((socket) => socket.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
