/**
 * Nemeses of observers: code of users that is called by a node and has nothing to do with its work.
 */

import { allNodes } from './cluster-shape.ts';
import type { NemesisKind } from './nemesis-kind.ts';
import type { Strike } from './strike.ts';
import { few, nodesMeant } from './targets.ts';

export const throwingOnlookers: NemesisKind = {
  kind: 'throwingOnlookers',
  says: 'An observer of the inspection stream of some nodes, or of their actors, throws at what it sees.',
  draw: (chance, cluster) => ({
    targets: few(chance, allNodes(cluster)),
    params: {
      watch: chance.pick(['stream', 'actors', 'both']),
      everyMs: Math.round(chance.scaled(10, 10_000)),
    },
  }),
  begin: (strike) => {
    if (strike.word('watch') !== 'actors') readStreams(strike);
    if (strike.word('watch') !== 'stream') watchActors(strike);
  },
};

/** A reader that throws is taken off the stream: another one comes after a while. */
function readStreams(strike: Strike): void {
  for (const name of nodesMeant(strike)) {
    const node = strike.world.node(name);
    if (!node.isRunning) continue;
    strike.whenOver(node.program.runtime.inspect(failing(strike, name)));
  }
  strike.after(strike.number('everyMs'), () => readStreams(strike));
}

/** Watches every actor that takes a turn from now on, in each life of its node. */
function watchActors(strike: Strike): void {
  const meant = new Set(nodesMeant(strike));
  const watched = new Set<string>();
  strike.hear('turn', ({ node: name, address }) => {
    const node = strike.world.node(name);
    const key = `${name}/${node.life}/${address}`;
    if (!meant.has(name) || watched.has(key)) return;
    watched.add(key);
    strike.soon(() => {
      if (!node.isRunning || !node.program.runtime.isHosting) return;
      const fail = failing(strike, name);
      const actor = node.program.runtime.actor(address);
      const watch = actor.subscribe({ next: fail, complete: fail, error: fail });
      strike.whenOver(() => watch.unsubscribe());
    });
  });
}

/** Code that throws for as long as this life of the node and the strike go on. */
function failing(strike: Strike, name: string): () => void {
  const node = strike.world.node(name);
  const { life } = node;
  return () => {
    if (strike.isOver || !node.isUp || node.life !== life) return;
    const error = `An observer of ${name} fails.`;
    strike.hit({ node: name, error });
    throw new Error(error);
  };
}
