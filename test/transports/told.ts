/** Record of what a transport told its listener, in order, and a way to wait for it. */

import { JOBS_ROLES } from '../../programs/jobs/peer-roles.ts';
import type { PeerIdentity, TransportListener } from '../../runtime/ports/transport.ts';
import {
  type WebSocketOptions,
  type WebSocketTransport,
  websocketTransport,
} from '../../transports/websocket.ts';
import { newTelling } from '../kit/telling.ts';
import { SECRET } from './socket-network.ts';

export interface Told {
  readonly listener: TransportListener;
  /** In order: `up b`, `frame b text`, `down b`. */
  readonly log: readonly string[];
  readonly identities: ReadonlyMap<string, PeerIdentity | undefined>;
  count(line: string): number;
  until(isTrue: () => boolean): Promise<void>;
}

function recordTold(): Told {
  const { log, tell, until } = newTelling();
  const identities = new Map<string, PeerIdentity | undefined>();
  return {
    log,
    identities,
    listener: {
      peerUp: (node, identity) => {
        identities.set(node, identity);
        tell(`up ${node}`);
      },
      peerDown: (node) => tell(`down ${node}`),
      frameReceived: (node, frame) => tell(`frame ${node} ${frame}`),
    },
    count: (line) => log.filter((told) => told === line).length,
    until,
  };
}

export interface StartedNode extends Told {
  readonly transport: WebSocketTransport;
  readonly url: string;
}

/** What is `undefined` is left out, also of what nodes have by default here. */
type NodeOptions = {
  readonly [Name in keyof WebSocketOptions]?: WebSocketOptions[Name] | undefined;
};

/** Starts nodes, and stops all of them with `stopAll`. */
export function nodes(): {
  start(node: string, options?: NodeOptions): Promise<StartedNode>;
  stopAll(): Promise<void>;
} {
  const started: WebSocketTransport[] = [];
  return {
    start: async (node, options = {}) => {
      const isListening = options.server === undefined && options.role !== 'client';
      const wanted = {
        node,
        ...(isListening ? { listen: { port: 0 } } : {}),
        secret: SECRET,
        roles: JOBS_ROLES,
        ...options,
        limits: { redialMinMs: 5, redialMaxMs: 50, closeMs: 100, ...options.limits },
      };
      const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
      const transport = websocketTransport(
        Object.fromEntries(given) as unknown as WebSocketOptions,
      );
      started.push(transport);
      const told = recordTold();
      await transport.start(told.listener);
      return { transport, url: transport.url ?? '', ...told };
    },
    stopAll: async () => {
      await Promise.all(started.splice(0).map((transport) => transport.stop()));
    },
  };
}

/** For what no listener is told of. Asks between turns of the event loop. */
export async function becomes(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2));
}
