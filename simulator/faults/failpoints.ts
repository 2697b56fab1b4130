/**
 * Nemeses that kill a node at a certain point: between a turn, its commit, what it sends, and what
 * is acknowledged.
 *
 * A point is found by a message: the commit of the turn that sends it, its frame on the way, its
 * arrival. Before and after a commit differ because a group takes its time to be on disk: who
 * dies meanwhile has either written it without knowing, or never.
 */

import type { Group } from '../../runtime/ports/store.ts';
import type { Chance, GroupEnd } from '../world.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import { membersOf } from './targets.ts';

/** Where in the life of a message somebody dies. */
const POINTS = [
  'beforeCommit',
  'afterCommit',
  'afterSend',
  'afterArrival',
  'beforeAcknowledgement',
] as const;
type Point = (typeof POINTS)[number];

export const killAtFailpoint: NemesisKind = {
  kind: 'killAtFailpoint',
  says: 'A node dies just before or after it commits, sends, hears or acknowledges a certain message.',
  awaitsMoment: true,
  fits: (cluster) => cluster.messages.length > 0,
  draw: (chance, cluster) => ({
    targets: [],
    params: {
      point: chance.pick(POINTS),
      message: chance.pick(cluster.messages),
      ...drawnTimes(chance),
    },
  }),
  begin: (strike) => {
    const { point, message } = strike.nemesis.params;
    killAt(strike, point as Point, String(message));
  },
};

export function drawnTimes(chance: Chance): { readonly times: number; readonly downMs: number } {
  return { times: chance.whole(1, 3), downMs: Math.round(chance.scaled(1, 20_000)) };
}

export function killAt(strike: Strike, point: Point, message: string): void {
  const { times = 1, downMs = 1_000 } = strike.nemesis.params;
  let left = Number(times);
  const kill = (name: string, end?: GroupEnd): void => {
    if (left <= 0) return;
    const { life } = strike.world.node(name);
    left -= 1;
    strike.soon(() => {
      if (!strike.crashAmid(name, life, end)) return;
      strike.after(Number(downMs), () => strike.restart(name));
    });
  };
  // The word alone: in the record of an actor and in a frame it stands in quotes of different depth.
  const isAbout = (text: string): boolean => text.includes(message);
  switch (point) {
    case 'beforeCommit':
      killAtGroup(strike, isAbout, (name) => kill(name, 'lost'));
      return;
    case 'afterCommit':
      killAtGroup(strike, isAbout, (name) => kill(name, 'written'));
      return;
    case 'afterSend':
      strike.hear('frame', ({ node, change, frame }) => {
        if (change === 'sent' && isMember(strike, node) && isAbout(frame)) kill(node);
      });
      return;
    case 'afterArrival':
      strike.hear('frame', ({ to, change, frame }) => {
        if (change === 'delivered' && isMember(strike, to) && isAbout(frame)) kill(to, 'lost');
      });
      return;
    case 'beforeAcknowledgement':
      killAtAcknowledgement(strike, isAbout, (name) => kill(name, 'written'));
  }
}

const isMember = (strike: Strike, name: string): boolean => membersOf(strike).includes(name);

/** The turn that sends the message is in the group. */
function killAtGroup(
  strike: Strike,
  isAbout: (text: string) => boolean,
  kill: (name: string) => void,
): void {
  const seen = new Map<string, boolean>();
  const stop = strike.world.readGroups((node, { writes }) => {
    for (const { address, record } of writes) {
      const isThere = record !== null && isAbout(record);
      // As long as it is not acknowledged every later record of the sender has it too.
      if (isThere && seen.get(address) !== true) kill(node);
      seen.set(address, isThere);
    }
  });
  strike.whenOver(stop);
}

/** The node that received the message hands over the group in which it is taken. */
function killAtAcknowledgement(
  strike: Strike,
  isAbout: (text: string) => boolean,
  kill: (name: string) => void,
): void {
  const hasHeard = new Set<string>();
  strike.hear('frame', ({ to, change, frame }) => {
    if (change === 'delivered' && isMember(strike, to) && isAbout(frame)) hasHeard.add(to);
  });
  const stop = strike.world.readGroups((node: string, { writes }: Group) => {
    if (writes.length > 0 && hasHeard.delete(node)) kill(node);
  });
  strike.whenOver(stop);
}
