/**
 * Descriptors: how many this process may have, and how many of them connections may take.
 *
 * Guarantees: whatever comes over the network leaves enough for the store, the log, dialling peers
 * and the file by which the leader shows that it lives. A process with too few to do anything is
 * not started, and one with fewer than its limits ask for says so and keeps smaller ones.
 *
 * Node does not tell the limit; Linux does, in a file. Elsewhere nothing is known, so the limits
 * stay as they are, and the log has a line about it.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { DEFAULT_HTTP_LIMITS } from '../../http/limits.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import { DEFAULT_WEBSOCKET_LIMITS } from '../../transports/websocket/limits.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import type { NodeConfiguration } from './resolve.ts';

export interface Descriptors {
  readonly max: number;
  readonly open: number;
}

/** Never for connections: files, dials, timers of the system, watchers of the directory. */
const RESERVED = 64;
/** Least number: with fewer a node cannot hold its peers and answer anybody. */
const CONNECTIONS_MIN = 16;
/** Divisor: one place in three is for peers, where not all that were asked for fit. */
const PEERS_SHARE = 3;

/** Undefined where the system does not tell. */
export function readDescriptors(): Descriptors | undefined {
  try {
    const line = /^Max open files\s+(\d+|unlimited)/m.exec(
      readFileSync('/proc/self/limits', 'latin1'),
    )?.[1];
    if (line === undefined) return undefined;
    const max = line === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(line);
    return { max, open: openNow(max) };
  } catch {
    return undefined;
  }
}

/** All of them where there is none left to look with. */
function openNow(max: number): number {
  try {
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return max;
  }
}

type Limits = Pick<NodeConfiguration['limits'], 'sockets' | 'http'>;

/** The limits with as many connections as there are descriptors for. @throws {CommandFailure} */
export function limitsWithin<TLimits extends Limits>(
  limits: TLimits,
  descriptors: Descriptors | undefined,
  logger: Logger,
): TLimits {
  if (descriptors === undefined) {
    const what = 'this system does not tell how many files a process may open';
    logger.info({ event: 'descriptors.unknown' }, what);
    return limits;
  }
  const { max, open } = descriptors;
  const free = max - open - RESERVED;
  if (free < CONNECTIONS_MIN) {
    const least = open + RESERVED + CONNECTIONS_MIN;
    const what = `This process may open ${max} files, and needs ${least} at least. Raise the limit: ulimit -n, or LimitNOFILE of its service.`;
    throw new CommandFailure(EXIT.unavailable, what);
  }
  const peers = limits.sockets.connectionsMax ?? DEFAULT_WEBSOCKET_LIMITS.connectionsMax;
  const http = limits.http.connectionsMax ?? DEFAULT_HTTP_LIMITS.connectionsMax;
  if (peers + http <= free) return limits;
  const peersMax = Math.min(peers, Math.max(Math.floor(free / PEERS_SHARE), free - http));
  const httpMax = Math.min(http, free - peersMax);
  logger.warn(
    {
      event: 'descriptors.few',
      descriptorsMax: max,
      needed: peers + http + open + RESERVED,
      'limits.http.connectionsMax': httpMax,
      'limits.sockets.connectionsMax': peersMax,
    },
    `this process may open ${max} files, so there are fewer connections than its limits say`,
  );
  return {
    ...limits,
    sockets: { ...limits.sockets, connectionsMax: peersMax },
    http: { ...limits.http, connectionsMax: httpMax },
  };
}
