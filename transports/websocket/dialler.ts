/**
 * Dialler of one peer: it dials again after a pause when the peer cannot be reached, at once when a link
 * ends.
 *
 * It rests while that node is connected, whichever of the two dialled. The pauses grow, are spread by chance,
 * and begin from the shortest again once a link has lasted. It promises no link, only to try.
 */

import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { Bans } from './bans.ts';
import { Call, type CallEnd, type CallServices } from './call.ts';
import type { KnownClaim } from './claim.ts';
import type { Counters } from './counters.ts';
import type { DialQueue } from './dial-queue.ts';

export interface DiallerServices extends CallServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly counters: Counters;
  readonly bans: Bans;
  readonly queue: DialQueue;
  opened(webSocket: WebSocket, socket: Socket, peer: KnownClaim, linkId: string): void;
  /** A peer that this start was connected to knows a later one. */
  superseded(node: string): void;
  /** A node has proved that it has the name of this one and was started before. */
  namesake(): void;
}

const DOUBLINGS_MAX = 20;
/** Pause between reports that somebody else has the name of this node. */
const TELL_AGAIN_MS = 60_000;

export class Dialler {
  readonly url: URL;
  readonly #services: DiallerServices;
  #call: Call | undefined;
  #wait: Cancel | undefined;
  #leaveQueue: (() => void) | undefined;
  #failures = 0;
  #isStopped = false;
  /** Node that answers there, as far as it has said so. */
  #node: string | undefined;
  #openedAt = 0;
  #lastFailure: string | undefined;
  #toldAt: number | undefined;

  constructor(url: URL, services: DiallerServices) {
    this.url = url;
    this.#services = services;
  }

  start(): void {
    this.#enterQueue();
  }

  stop(): void {
    this.#isStopped = true;
    this.#wait?.();
    this.#wait = undefined;
    this.#call?.breakOff();
    this.#callEnded();
  }

  /** Some node is connected, by either way of dialling. */
  peerUp(node: string): void {
    if (node === this.#node) {
      this.#wait?.();
      this.#wait = undefined;
      this.#openedAt = this.#services.clock.now();
    } else if (this.#node === undefined && this.#wait !== undefined) {
      // It may be the peer that does not answer here yet.
      this.#failures = 0;
      this.#callAfter(this.#shortPauseMs());
    }
  }

  peerDown(node: string): void {
    if (node !== this.#node || this.#isStopped) return;
    const { clock, settings } = this.#services;
    // A link that ends as soon as it is made is a failure like any other.
    if (clock.now() - this.#openedAt >= settings.limits.redialMaxMs) this.#failures = 0;
    if (this.#call === undefined) this.#retry();
  }

  #callAfter(pauseMs: number): void {
    if (this.#isStopped) return;
    const { clock } = this.#services;
    this.#wait?.();
    this.#wait = clock.schedule(clock.now() + pauseMs, () => this.#enterQueue());
  }

  #enterQueue(): void {
    this.#wait = undefined;
    // The queue may begin at once, before it has said how to leave it.
    this.#leaveQueue ??= this.#services.queue.enter(() => queueMicrotask(() => this.#begin()));
  }

  #begin(): void {
    if (this.#isStopped || this.#leaveQueue === undefined) return;
    if (this.#node !== undefined && this.#services.links.get(this.#node) !== undefined) {
      this.#callEnded();
      return;
    }
    this.#call = new Call(this.url, this.#services, this.#end);
  }

  readonly #end: CallEnd = {
    answered: (node) => {
      this.#node = node;
    },
    opened: (webSocket, socket, peer, linkId) => {
      this.#callEnded();
      this.#lastFailure = undefined;
      this.#services.opened(webSocket, socket, peer, linkId);
    },
    pointless: () => {
      this.#callEnded();
      // While it is connected there is nothing to do until that ends.
      if (this.#services.links.get(this.#node as string) === undefined) this.#retry();
    },
    isOwnName: (who) => this.#ownNameAnswered(who),
    failed: (reason, status) => this.#failed(reason, status),
    superseded: (node, reason) => this.#superseded(node, reason),
  };

  #ownNameAnswered(who: Parameters<CallEnd['isOwnName']>[0]): void {
    const { counters, settings, logger, namesake } = this.#services;
    const fields = { url: this.url.href, node: settings.own.node };
    this.#callEnded();
    if (who === 'self') {
      logger.debug(fields, 'this URL leads to this node itself');
      this.#isStopped = true;
      return;
    }
    counters.dialsFailed += 1;
    if (this.#isTimeToTell()) logger.error(fields, 'another node has the name of this one');
    this.#retry();
    if (who === 'earlier') namesake();
  }

  /** Unless this start was there already it may be the clock that was set back, and pass. */
  #superseded(node: string, reason: string): void {
    this.#callEnded();
    if (this.#isStopped) return;
    const { counters, logger, links, superseded } = this.#services;
    counters.dialsFailed += 1;
    const fields = { url: this.url.href, peer: node, reason };
    if (this.#isTimeToTell())
      logger.error(fields, 'a peer knows a later start of this node, and does not let this one in');
    this.#retry();
    if (links.hasMet(node)) superseded(node);
  }

  #isTimeToTell(): boolean {
    const now = this.#services.clock.now();
    if (this.#toldAt !== undefined && now - this.#toldAt < TELL_AGAIN_MS) return false;
    this.#toldAt = now;
    return true;
  }

  #failed(reason: string, status: number | undefined): void {
    this.#callEnded();
    if (this.#isStopped) return;
    const { counters, logger, options } = this.#services;
    counters.dialsFailed += 1;
    // The same again and again is said once.
    const level = reason === this.#lastFailure ? 'debug' : 'warn';
    this.#lastFailure = reason;
    logger[level]({ url: this.url.href, reason }, 'a peer could not be reached');
    this.#retry();
    options.onUnreached?.(this.url.href, reason, status);
  }

  #callEnded(): void {
    this.#call = undefined;
    this.#leaveQueue?.();
    this.#leaveQueue = undefined;
  }

  #retry(): void {
    const { settings, random, bans } = this.#services;
    const { redialMinMs, redialMaxMs } = settings.limits;
    const pauseMs =
      this.#failures === 0
        ? this.#shortPauseMs()
        : redialMinMs * 2 ** Math.min(this.#failures - 1, DOUBLINGS_MAX);
    this.#failures += 1;
    const banMs = this.#node === undefined ? 0 : bans.leftMs(this.#node);
    this.#callAfter(Math.max(Math.min(redialMaxMs, pauseMs) * (0.5 + random.next() / 2), banMs));
  }

  #shortPauseMs(): number {
    return this.#services.settings.limits.redialMinMs * this.#services.random.next();
  }
}
