/**
 * TCP proxy on loopback that can be cut: it makes a partition between two processes real.
 *
 * Guarantees: bytes pass unchanged and in order, and a slow reader slows its sender down. While it
 * is cut by `silence` nothing passes and nobody is told, also not of an end that came meanwhile: as
 * when packets are lost on the way. When it heals, what was held goes on from where it was. Cut by
 * `reset`, connections end at once and new ones are refused until it heals. It buffers no more than
 * the sockets do, and understands nothing of what passes.
 */

import { type AddressInfo, createServer, type Server, Socket } from 'node:net';

export type CutBy = 'silence' | 'reset';

export interface TcpProxyOptions {
  /** Left out: any. */
  readonly port?: number;
  /** A port on this machine, or what tells it for each connection. Left out: they are refused until `lead` names one. */
  readonly target?: number | (() => number | undefined);
  /** Connections at the same time; more are refused. Default 1,000. */
  readonly connectionsMax?: number;
}

const LOOPBACK = '127.0.0.1';
const CONNECTIONS_MAX = 1_000;

/** One connection: its two ends, the second one as soon as it is dialled. */
interface Pair {
  readonly near: Socket;
  far: Socket | undefined;
  /** An end of it has closed while nothing passed: the other one hears of it later. */
  isBroken: boolean;
}

export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #target: TcpProxyOptions['target'];
  #cutBy: CutBy | undefined;
  #passedBytes = 0;

  /** Resolves when it listens. */
  static open({
    port = 0,
    target,
    connectionsMax = CONNECTIONS_MAX,
  }: TcpProxyOptions = {}): Promise<TcpProxy> {
    // Half of a connection may end before the other half: that is forwarded too.
    const server = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
    const proxy = new TcpProxy(server, target, connectionsMax);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, LOOPBACK, () => {
        server.off('error', reject);
        resolve(proxy);
      });
    });
  }

  private constructor(server: Server, target: TcpProxyOptions['target'], connectionsMax: number) {
    this.#server = server;
    this.#target = target;
    server.on('connection', (near) => {
      const isRefused = this.#cutBy === 'reset' || this.#pairs.size >= connectionsMax;
      if (isRefused) near.resetAndDestroy();
      else this.#take(near);
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get isCut(): boolean {
    return this.#cutBy !== undefined;
  }

  get connections(): number {
    return this.#pairs.size;
  }

  /** In both directions, since it was opened. */
  get passedBytes(): number {
    return this.#passedBytes;
  }

  /** Sets where connections lead from now on; those there are stay where they are. */
  lead(target: number | undefined): void {
    this.#target = target;
  }

  cut(by: CutBy = 'silence'): void {
    this.#cutBy = by;
    for (const pair of this.#pairs) {
      if (by === 'reset') end(pair);
      else for (const socket of endsOf(pair)) socket.pause();
    }
  }

  heal(): void {
    this.#cutBy = undefined;
    for (const pair of [...this.#pairs]) {
      if (pair.isBroken) end(pair);
      else if (pair.far === undefined) this.#dial(pair);
      else for (const socket of endsOf(pair)) socket.resume();
    }
  }

  /** Ends every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#cutBy = undefined;
    for (const pair of this.#pairs) end(pair);
    await closed;
  }

  #take(near: Socket): void {
    const pair: Pair = { near, far: undefined, isBroken: false };
    this.#pairs.add(pair);
    this.#watch(pair, near);
    if (this.#cutBy === undefined) this.#dial(pair);
  }

  #dial(pair: Pair): void {
    const target = typeof this.#target === 'function' ? this.#target() : this.#target;
    if (target === undefined) {
      end(pair);
      return;
    }
    const far = new Socket({ allowHalfOpen: true });
    pair.far = far;
    this.#watch(pair, far);
    far.setNoDelay(true);
    far.connect(target, LOOPBACK, () => {
      this.#forward(pair.near, far);
      this.#forward(far, pair.near);
      if (this.#cutBy === undefined) pair.near.resume();
      else for (const socket of endsOf(pair)) socket.pause();
    });
  }

  #forward(from: Socket, to: Socket): void {
    from.on('data', (bytes) => {
      this.#passedBytes += bytes.length;
      if (!to.write(bytes)) from.pause();
    });
    to.on('drain', () => {
      if (this.#cutBy === undefined) from.resume();
    });
    from.on('end', () => to.end());
  }

  #watch(pair: Pair, socket: Socket): void {
    // Whatever it was, the close that follows says all there is to say.
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#cutBy === 'silence' && endsOf(pair).some((one) => !one.destroyed)) {
        pair.isBroken = true;
        return;
      }
      this.#pairs.delete(pair);
      end(pair);
    });
  }
}

function endsOf({ near, far }: Pair): readonly Socket[] {
  return far === undefined ? [near] : [near, far];
}

/** Both ends at once; an end that has closed in order is not disturbed. */
function end(pair: Pair): void {
  for (const socket of endsOf(pair)) if (!socket.destroyed) socket.resetAndDestroy();
}
