/**
 * Nemeses of single messages: doubled much later, and small things that the ports may always do wrong.
 */

import { placeOf } from '../../runtime/base/address.ts';
import { decodeFrame, encodeFrame } from '../../runtime/delivery.ts';
import type { Chance, InterceptedEvent } from '../world.ts';
import { allPlaces } from './cluster-shape.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import { membersOf } from './targets.ts';

/** Loses messages of the cluster that are meant, by type and as `where` has it. */
export function lose(
  strike: Strike,
  types: readonly string[],
  where: () => boolean = () => true,
): void {
  const nodes = strike.world.nodes().map(({ node }) => node);
  strike.keep(
    strike.world.network.intercept({
      between: [nodes, nodes],
      where: (event: InterceptedEvent) => types.includes(event.type) && where(),
      action: 'drop',
    }),
  );
}

/** Moments after which copies come again: another node leads, or an actor has ended. */
export const MOMENTS = ['failover', 'terminal'] as const;
/** Copies that are kept of each message. */
const KEPT_MAX = 3;

export const delayedDuplicate: NemesisKind = {
  kind: 'delayedDuplicate',
  says: 'Copies of what was sent before come again after a failover, an end, or a start.',
  awaitsMoment: true,
  draw: (chance) => ({
    targets: [],
    params: { after: chance.pick(MOMENTS), delayMs: drawnDelayMs(chance) },
  }),
  begin: (strike) => {
    const repeat = keepCopies(strike, strike.scene.shape.messages);
    if (strike.word('after') === 'failover') afterFailover(strike, repeat);
    else
      strike.hear('actor', ({ change }) => {
        if (change === 'done') repeat();
      });
  },
};

export const drawnDelayMs = (chance: Chance): number => Math.round(chance.scaled(1, 30_000));

/** Keeps the last messages of these types from now on; what it returns sends them again, a delay later. */
export function keepCopies(strike: Strike, types: readonly string[]): () => void {
  const copies = new Map<string, string[]>();
  strike.hear('frame', ({ change, frame }) => {
    if (change !== 'sent') return;
    const type = types.find((one) => frame.includes(`"type":"${one}"`));
    if (type === undefined) return;
    const kept = [...(copies.get(type) ?? []), frame];
    copies.set(type, kept.slice(-KEPT_MAX));
  });
  return () => {
    const frames = [...copies.values()].flat();
    strike.after(strike.number('delayMs'), () => {
      for (const frame of frames) sendAgain(strike, frame);
    });
  };
}

export function afterFailover(strike: Strike, act: () => void): void {
  strike.hear('lease', ({ change }) => {
    if (change === 'acquired') act();
  });
}

/**
 * From the host of its sender now to the host of its receiver. The sender has no part in it: it
 * may have lost its disk, and know nothing of what it sent before.
 */
function sendAgain(strike: Strike, frame: string): void {
  for (const envelope of decodeFrame(frame).envelopes) {
    const { from, to } = envelope as { readonly from: unknown; readonly to: unknown };
    if (typeof from !== 'string' || typeof to !== 'string') continue;
    const sender = strike.world.hostOf(placeOf(from));
    const receiver = strike.world.hostOf(placeOf(to));
    if (sender === undefined || receiver === undefined || sender === receiver) continue;
    const copy = encodeFrame([JSON.stringify(envelope)], []);
    if (strike.world.network.repeat(sender.node, receiver.node, copy)) strike.hit({ from, to });
  }
}

/** How often an armed site fires. */
export const FIRES = 0.25;

/** Something that ports may do wrong at any time. */
export interface Site {
  readonly name: string;
  readonly arm: (strike: Strike) => void;
}

export const frameTwice: Site = {
  name: 'frameTwice',
  arm: (strike) => {
    const nodes = strike.world.nodes().map(({ node }) => node);
    const noise = { duplicate: { share: FIRES, withinMs: 50 } };
    const id = `${strike.nemesis.id}/frameTwice`;
    strike.keep(strike.world.network.disturb({ id, from: nodes, to: nodes, noise }));
  },
};

export const commitRefused: Site = {
  name: 'commitRefused',
  arm: (strike) => {
    for (const place of allPlaces(strike.scene.shape)) {
      const rule = { id: strike.nemesis.id, share: FIRES, reason: 'EIO' };
      strike.keep(strike.world.diskOf(place).refuse(rule));
    }
  },
};

export const commitDelayed: Site = {
  name: 'commitDelayed',
  arm: (strike) => {
    for (const place of allPlaces(strike.scene.shape)) {
      // Three in four stay short.
      strike.world.diskOf(place).takes({ shape: 'pareto', minMs: 2, tail: 0.8, maxMs: 1_000 });
      strike.whenOver(() => strike.world.healDisk(place));
    }
    const stop = strike.world.readGroups((node) => strike.hit({ node }));
    strike.whenOver(stop);
  },
};

export const timerLate: Site = {
  name: 'timerLate',
  arm: (strike) => {
    for (const name of membersOf(strike)) {
      const node = strike.world.node(name);
      if (!node.isUp || !strike.chance.is(FIRES)) continue;
      node.slow(2 + strike.chance.whole(0, 8), strike.lastsMs);
      strike.hit({ slow: node.node });
    }
  },
};

export const buggify = buggifyAt([frameTwice, commitRefused, commitDelayed, timerLate]);

export function buggifyAt(sites: readonly Site[]): NemesisKind {
  return {
    kind: 'buggify',
    says: 'What ports may do wrong at any time they do often: a frame twice, an answer lost, a commit refused.',
    draw: (chance) => ({ targets: [], params: armed(chance, sites) }),
    begin: (strike) => {
      for (const { name, arm } of sites) if (strike.is(name)) arm(strike);
    },
  };
}

/** Each site as often as it fires, and one at least. */
function armed(chance: Chance, sites: readonly Site[]): Record<string, boolean> {
  const sure = chance.pick(sites).name;
  return Object.fromEntries(sites.map(({ name }) => [name, chance.is(FIRES) || name === sure]));
}
