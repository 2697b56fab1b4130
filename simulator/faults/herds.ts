/** A nemesis of clients: herds of them that connect all at once. */

import type { NemesisKind } from './nemesis-kind.ts';

export const reconnectHerd: NemesisKind = {
  kind: 'reconnectHerd',
  says: 'Many clients lose their connections at once and connect again at once, over and over.',
  draw: (chance) => ({
    targets: [],
    params: { clients: chance.whole(5, 40), everyMs: Math.round(chance.scaled(100, 30_000)) },
  }),
  begin: (strike) => {
    const { nemesis, world } = strike;
    const { clients, everyMs } = nemesis.params;
    const listener = { peerUp: () => {}, peerDown: () => {}, frameReceived: () => {} };
    let leave = (): void => {};
    const connect = (): void => {
      leave();
      const herd = Array.from({ length: Number(clients) }, (_, index) =>
        world.network.join(`herd-${nemesis.id}-${index + 1}`),
      );
      for (const transport of herd) world.pace.watch(() => transport.start(listener));
      leave = () => {
        for (const transport of herd) world.pace.watch(() => transport.stop());
      };
      strike.hit({ clients: Number(clients) });
      strike.after(Number(everyMs), connect);
    };
    connect();
    strike.whenOver(() => leave());
  },
};
