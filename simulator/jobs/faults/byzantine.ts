/**
 * A nemesis that is a peer: it has proved who it is, and lies in every field that it may fill.
 *
 * It hears what the cluster says, and says it again in its own name with one thing changed: numbers that
 * are raised by nodes that are told of greater ones, and the names of others. Who is sent away comes again.
 */

import { jobsPeer } from '../../../programs/jobs/peer-roles.ts';
import { placeOf } from '../../../runtime/base/address.ts';
import { decodeFrame, encodeFrame, encodeHello } from '../../../runtime/delivery.ts';
import type { PeerIdentity, Transport } from '../../../runtime/ports/transport.ts';
import { electedPlaces, type NemesisKind } from '../../faults.ts';
import type { Chance } from '../../world.ts';
import type { JobsScene, JobsStrike } from '../scene.ts';

const ROLES = ['worker', 'client', 'manager'] as const;
/** Name of a place that no plan has. */
const ELSEWHERE = 'Elsewhere';
/** Beside every bound: a takeover or two, the step, the greatest fence, exact numbers. */
const NUMBERS = [0, 1, 2, 3, 9_999, 10_001, 10_002, 2 ** 40, 2 ** 40 + 1, 2 ** 53 - 2, 2 ** 53 - 1];
/** What raises a number, or is somebody's word for somebody else. */
const SAID_MAX = 200;

type Fields = Record<string, unknown>;

export const byzantinePeer: NemesisKind<JobsScene> = {
  kind: 'byzantinePeer',
  says: 'A peer that has proved to be a worker, a client or a manager of another place lies in every field it may fill.',
  draw: (chance, cluster) => ({
    targets: [],
    params: {
      as: chance.pick(ROLES),
      datacenter: chance.pick(electedPlaces(cluster)),
      everyMs: Math.round(chance.scaled(20, 5_000)),
    },
  }),
  begin: (strike) => {
    const liar = new Liar(strike);
    strike.hear('frame', ({ node, change, frame }) => {
      if (change === 'sent' && node !== liar.node) liar.listen(frame);
    });
    strike.whenOver(() => liar.leave());
    liar.goOn();
  },
};

/** The name under which it comes, and what it proves to be. */
function identityOf(
  role: string,
  datacenter: string,
  id: string,
): PeerIdentity & { readonly node: string } {
  if (role === 'worker') {
    const node = `${datacenter}.worker-liar-${id}`;
    return { node, ...jobsPeer(role, node) };
  }
  if (role === 'client') return { node: `liar~${id}`, ...jobsPeer(role, `liar~${id}`) };
  return { node: `${ELSEWHERE}.manager-liar-${id}`, ...jobsPeer('manager', ELSEWHERE) };
}

class Liar {
  readonly node: string;
  readonly #strike: JobsStrike;
  readonly #identity: PeerIdentity & { readonly node: string };
  /** One of each event that was heard, the last one. */
  readonly #heard = new Map<string, Fields>();
  #transport: Transport | undefined;
  #counter = 1;

  constructor(strike: JobsStrike) {
    this.#strike = strike;
    this.#identity = identityOf(strike.word('as'), strike.word('datacenter'), strike.nemesis.id);
    this.node = this.#identity.node;
  }

  listen(frame: string): void {
    if (!frame.startsWith('{')) return;
    try {
      for (const envelope of decodeFrame(frame).envelopes) {
        const { event } = envelope as { readonly event: { readonly type: string } };
        if (this.#heard.size < SAID_MAX || this.#heard.has(event.type))
          this.#heard.set(event.type, envelope as Fields);
      }
    } catch {
      // A frame that another nemesis has damaged.
    }
  }

  goOn(): void {
    const { world } = this.#strike;
    if (this.#transport === undefined) {
      this.#transport = world.network.join(this.node, this.#identity);
      world.pace.watch(() =>
        this.#transport?.start({ peerUp() {}, peerDown() {}, frameReceived() {} }),
      );
    } else this.#lie(this.#transport);
    this.#strike.after(this.#strike.number('everyMs'), () => this.goOn());
  }

  leave(): void {
    const transport = this.#transport;
    this.#transport = undefined;
    if (transport !== undefined) this.#strike.world.pace.watch(() => transport.stop());
  }

  #lie(transport: Transport): void {
    const { chance } = this.#strike;
    const peers = transport.peers();
    // Everybody has sent it away: it comes again, which takes a moment.
    if (peers.length === 0 || chance.is(0.02)) {
      this.leave();
      return;
    }
    if (chance.is(0.2)) {
      const peer = chance.pick(peers);
      this.#say(transport, peer, this.#hello(chance));
      return;
    }
    if (this.#heard.size === 0) return;
    const said = structuredClone(chance.pick([...this.#heard.values()]));
    const host = this.#strike.world.hostOf(placeOf(String(said.to)))?.node;
    const peer = host !== undefined && peers.includes(host) ? host : chance.pick(peers);
    this.#say(transport, peer, encodeFrame([JSON.stringify(this.#inOwnName(chance, said))], []));
  }

  #say(transport: Transport, peer: string, frame: string): void {
    if (transport.send(peer, frame)) this.#strike.hit({ to: peer });
  }

  #hello(chance: Chance): string {
    const places = this.#strike.scene.system.datacenters;
    const fence = chance.pick(NUMBERS);
    const claim = chance.pick([...places, this.#identity.place]);
    return chance.is(0.5)
      ? encodeHello({
          node: this.node,
          places: [],
          isAsking: true,
          outranked: [[claim, fence, chance.is(0.5)]],
        })
      : encodeHello({ node: this.node, places: [[claim, fence]], isAsking: true });
  }

  /** The same in its own name, or seldom in that of its first speaker, with numbers that are others. */
  #inOwnName(chance: Chance, said: Fields): Fields {
    const { place } = this.#identity;
    const event = said.event as Fields;
    const from = String(said.from);
    const isOpen = chance.is(0.02);
    if (!isOpen)
      said.from = from.includes('@') ? `${from.slice(0, from.lastIndexOf('@'))}@${place}` : from;
    if ('workerId' in event && !isOpen) event.workerId = this.node;
    if ('datacenter' in event && chance.is(0.5)) event.datacenter = place;
    if ('replyTo' in event) event.replyTo = `ask/1@${place}`;
    const numbers = Object.keys(event).filter((key) => typeof event[key] === 'number');
    if (numbers.length > 0 && chance.is(0.8)) event[chance.pick(numbers)] = chance.pick(NUMBERS);
    if (said.counter !== 0) {
      said.counter = this.#counter;
      said.after = 0;
      this.#counter += 1;
    }
    return said;
  }
}
