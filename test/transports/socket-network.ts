/**
 * Nodes over WebSocket for the transport contract: every node dials every other, each through a
 * proxy of its own, so that a link can be cut for real.
 */

import { TcpProxy } from '../../demo/tcp-proxy.ts';
import type { Transport } from '../../runtime/ports/transport.ts';
import { type WebSocketOptions, websocketTransport } from '../../transports/websocket.ts';
import type { TransportNetwork } from '../contracts/describe-transport.ts';

export const SECRET = 'a secret of more than thirty-two bytes';

/** `options`: what all nodes have besides. `names`: all that will ever join. */
export async function socketNetwork(
  options: Partial<WebSocketOptions> = {},
  names: readonly string[] = ['a', 'b', 'c'],
): Promise<TransportNetwork> {
  const ports = new Map<string, number>();
  const proxies = new Map<string, TcpProxy>();
  const way = (from: string, to: string) => `${from} to ${to}`;
  for (const from of names) {
    for (const to of names) {
      if (from !== to)
        proxies.set(way(from, to), await TcpProxy.open({ target: () => ports.get(to) }));
    }
  }
  const both = (node: string, other: string) =>
    [way(node, other), way(other, node)].map((name) => proxies.get(name) as TcpProxy);
  return {
    join: async (node) => {
      const peers = names
        .filter((name) => name !== node)
        .map((name) => `ws://127.0.0.1:${proxies.get(way(node, name))?.port}/peers`);
      const transport = websocketTransport({
        node,
        listen: { port: 0 },
        secret: SECRET,
        peers,
        ...options,
        limits: { redialMinMs: 5, redialMaxMs: 50, ...options.limits },
      });
      return withPort(transport, (port) => ports.set(node, port));
    },
    cut: async (node, other) => {
      for (const proxy of both(node, other)) proxy.cut('reset');
    },
    heal: async (node, other) => {
      for (const proxy of both(node, other)) proxy.heal();
    },
    close: async () => {
      await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    },
  };
}

function withPort(
  transport: ReturnType<typeof websocketTransport>,
  tell: (port: number) => void,
): Transport {
  const start = transport.start.bind(transport);
  transport.start = async (listener) => {
    await start(listener);
    tell(Number(new URL(transport.url as string).port));
  };
  return transport;
}
