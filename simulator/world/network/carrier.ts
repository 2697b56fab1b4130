/**
 * Carries single frames over a simulated network, and says the outcome of each.
 *
 * Guarantees: every frame that is sent is reported as sent, and then, with its copies, as delivered
 * or lost, unless the run ends before. One that was sent before and comes again is reported as
 * repeated instead. A frame of which rules take messages out is reported once for each part. Where
 * there is neither noise nor a rule, a frame costs one task of the clock and no chance.
 */

import type { Clock } from '../../../runtime/ports/clock.ts';
import type { FrameFact } from '../../history.ts';
import type { LineTask } from '../clock-line.ts';
import type { Interceptions } from './interception.ts';
import type { Link, NetworkMember } from './member.ts';
import type { FrameFate } from './noise.ts';
import type { NetworkWay } from './way.ts';

type Change = FrameFact['change'];

export interface CarrierOptions {
  readonly clock: Clock;
  readonly interceptions: Interceptions;
  /** The node that has that name now. */
  memberOf(node: string): NetworkMember | undefined;
  readonly onFrame: ((from: string, to: string, change: Change, frame: string) => void) | undefined;
  readonly onNoise: ((id: string, from: string, to: string) => void) | undefined;
}

export class FrameCarrier {
  readonly #options: CarrierOptions;

  constructor(options: CarrierOptions) {
    this.#options = options;
  }

  send(from: NetworkMember, link: Link, frame: string, change: 'sent' | 'repeated'): void {
    const isForth = link.members[0] === from;
    const way = link.ways[isForth ? 0 : 1];
    const to = link.members[isForth ? 1 : 0];
    const { interceptions, onFrame } = this.#options;
    onFrame?.(way.from, way.to, change, frame);
    if (interceptions.isEmpty) {
      this.#pass(way, link, to, frame);
      return;
    }
    for (const part of interceptions.pass(way.from, way.to, frame)) {
      if (part.change === 'sent') {
        this.#pass(way, link, to, part.frame);
        continue;
      }
      onFrame?.(way.from, way.to, part.change, part.frame);
      if (part.change === 'lost') continue;
      way.bringApart(this.#delivery(way, link, to, part.frame), part.holdMs);
    }
  }

  #pass(way: NetworkWay, link: Link, to: NetworkMember, frame: string): void {
    if (way.noises.length === 0) way.bring(this.#delivery(way, link, to, frame));
    else this.#passThroughNoise(way, link, to, frame);
  }

  #passThroughNoise(way: NetworkWay, link: Link, to: NetworkMember, frame: string): void {
    const { clock, onFrame, onNoise } = this.#options;
    const now = clock.now();
    const fate: FrameFate = {
      frame,
      isLost: false,
      isDamaged: false,
      isLate: false,
      extraMs: 0,
      copies: [],
    };
    for (const noise of way.noises)
      if (noise.act(fate, now)) onNoise?.(noise.source.id, way.from, way.to);
    for (const { frame: copy, afterMs, outlives } of fate.copies) {
      onFrame?.(way.from, way.to, 'repeated', copy);
      const delivery = this.#delivery(way, outlives ? undefined : link, to, copy);
      way.bringApart(delivery, fate.extraMs + afterMs);
    }
    if (fate.isLost) {
      onFrame?.(way.from, way.to, 'lost', frame);
      return;
    }
    if (fate.isDamaged) onFrame?.(way.from, way.to, 'damaged', fate.frame);
    const delivery = this.#delivery(way, link, to, fate.frame);
    if (fate.isLate) way.bringApart(delivery, fate.extraMs);
    else way.bring(delivery, fate.extraMs);
  }

  /** Without a link it goes to the node that has the name of `to` by then. */
  #delivery(way: NetworkWay, link: Link | undefined, to: NetworkMember, frame: string): LineTask {
    const { onFrame, memberOf } = this.#options;
    const report = (change: Change) => onFrame?.(way.from, way.to, change, frame);
    const wasSilent = way.isSilent;
    return {
      run: () => {
        const member = link === undefined ? memberOf(way.to) : to;
        if (member === undefined || wasSilent || way.isSilent) report('lost');
        else member.hearFrame(way.from, frame, link, report);
      },
      held: () => report('held'),
    };
  }
}
