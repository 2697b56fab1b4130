/**
 * A transport that says who its peers have proved to be, around one that knows nothing of that.
 *
 * What a peer proves is a table here and a handshake on a wire; above the transport both look the
 * same. A peer that is expelled is not heard again until it is connected again.
 */

import type { PeerIdentity, Transport, TransportListener } from '../../runtime/ports/transport.ts';

export interface Proofs extends Pick<Transport, 'frameBytesMax' | 'isCongested' | 'own'> {
  /** Undefined: this peer proves nothing, and is trusted as in one process. */
  identityOf(node: string): PeerIdentity | undefined;
  expelled?(node: string, reason: string): void;
}

export function provingTransport(inner: Transport, proofs: Proofs): Transport {
  const { frameBytesMax, isCongested, own } = proofs;
  const away = new Set<string>();
  let listener: TransportListener | undefined;
  return {
    start(told) {
      listener = told;
      return inner.start({
        peerUp: (node) => {
          away.delete(node);
          told.peerUp(node, proofs.identityOf(node));
        },
        peerDown: (node) => {
          if (!away.delete(node)) told.peerDown(node);
        },
        frameReceived: (node, frame) => {
          if (!away.has(node)) told.frameReceived(node, frame);
        },
      });
    },
    send: (node, frame) => !away.has(node) && inner.send(node, frame),
    peers: () => inner.peers().filter((node) => !away.has(node)),
    stop: () => inner.stop(),
    ...(own && { own }),
    ...(frameBytesMax && { frameBytesMax }),
    ...(isCongested && { isCongested }),
    expel(node, reason) {
      if (away.has(node)) return;
      away.add(node);
      proofs.expelled?.(node, reason);
      listener?.peerDown(node);
    },
  };
}
