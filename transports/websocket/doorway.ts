/**
 * Doorway: judges one request to open a WebSocket, before it is opened.
 *
 * A caller of the cluster asks twice: the first time it is given a nonce (401), the second time it
 * shows the proof. A client shows its token at once. Guarantees: a request without proof costs a
 * few hundred bytes of answer and no memory; the cheap checks come first; every refusal has a
 * status of its own and the same words for every cause that an attacker could learn from.
 */

import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { Bans } from './bans.ts';
import { isCertified } from './certificate.ts';
import { Challenges } from './challenges.ts';
import {
  chooseVersion,
  claimHeaders,
  HEADERS,
  identityOf,
  type KnownClaim,
  readClaim,
  readNonce,
  VERSIONS,
} from './claim.ts';
import type { Links } from './links.ts';
import type { Settings, WebSocketOptions } from './options.ts';
import { isProof, linkIdOf, proofOf, type Transcript } from './proof.ts';

export interface Refusal {
  readonly status: number;
  readonly reason: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** True for the question that every good handshake begins with. */
  readonly isExpected?: boolean;
}

export interface Admission {
  readonly caller: KnownClaim;
  readonly linkId: string;
  /** Headers that the answer gives of this node, and its own proof. */
  readonly headers: Readonly<Record<string, string>>;
  /** Check of a client: true while the token that it has shown still holds. */
  readonly holds?: () => boolean;
}

export interface DoorwayServices {
  readonly options: WebSocketOptions;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly bans: Bans;
  readonly links: Links;
  /** A node has proved that it has the name of this one and was started before. */
  readonly namesake: () => void;
}

/** Heads of requests that no node sends; each has an answer of its own. */
const WEBSOCKET_VERSION = '13';
/** Share of all connections that clients may have. */
const CLIENTS_SHARE = 3 / 4;
const BEARER = /^Bearer ([\x21-\x7e]{1,4096})$/i;

export class Doorway {
  readonly #services: DoorwayServices;
  readonly #challenges: Challenges;

  constructor(services: DoorwayServices) {
    this.#services = services;
    this.#challenges = new Challenges(services.clock, services.settings.limits.handshakeMs);
  }

  judge(request: IncomingMessage): Admission | Refusal {
    const { headers } = request;
    const { limits } = this.#services.settings;
    if (sizeOf(request) > limits.handshakeBytesMax)
      return refusal(413, `a handshake has at most ${limits.handshakeBytesMax} bytes`);
    // Browsers send it, nodes do not: no page may talk to a node by way of its reader.
    if (headers.origin !== undefined) return refusal(403, 'not for browsers');
    if (headers['sec-websocket-version'] !== WEBSOCKET_VERSION)
      return refusal(426, 'WebSocket version 13', { 'sec-websocket-version': WEBSOCKET_VERSION });
    const version = chooseVersion(headers['sec-websocket-protocol']);
    if (version === 'foreign') return refusal(400, 'no subprotocol of Escapement');
    if (version === 'none') {
      const range = `${VERSIONS.min}-${VERSIONS.max}`;
      return refusal(426, `versions spoken here: ${range}`, { [HEADERS.versions]: range });
    }
    const caller = readClaim(headers, this.#services.settings.roles);
    const callerNonce = readNonce(headers[HEADERS.nonce]);
    if (caller === undefined || callerNonce === undefined)
      return refusal(400, 'the handshake does not say who is there');
    return caller.rights.isClient
      ? this.#judgeClient(request, caller, callerNonce, version)
      : this.#judgePeer(request, caller, callerNonce, version);
  }

  /** The name that it says, if a peer has proved it to this node before. */
  nameMet({ headers }: IncomingMessage): string | undefined {
    const { node } = readClaim(headers, this.#services.settings.roles) ?? {};
    return node !== undefined && this.#services.links.hasMet(node) ? node : undefined;
  }

  #judgeClient(
    { headers }: IncomingMessage,
    caller: KnownClaim,
    callerNonce: string,
    version: number,
  ): Admission | Refusal {
    const { options, settings } = this.#services;
    const token = BEARER.exec(headers.authorization ?? '')?.[1];
    const client = options.clientOf?.(token, caller.node);
    if (client === undefined)
      return refusal(401, 'no such token', { 'www-authenticate': 'Bearer' });
    const isTheirs = caller.node === client.name || caller.node.startsWith(`${client.name}~`);
    if (!isTheirs || caller.place !== caller.node)
      return refusal(403, 'a client is called by the name of its token');
    const refused = this.#refusalOf(caller) ?? this.#crowdedBy(client.name, caller);
    if (refused !== undefined) return refused;
    const transcript = { version, caller, listener: settings.own, callerNonce, listenerNonce: '' };
    // No secret is shared with clients; the id only keeps connections apart.
    const linkId = linkIdOf('', transcript);
    const holds = () => options.clientOf?.(token, caller.node)?.name === client.name;
    return { caller, linkId, headers: this.#saying(version), holds };
  }

  #judgePeer(
    { headers, socket }: IncomingMessage,
    caller: KnownClaim,
    callerNonce: string,
    version: number,
  ): Admission | Refusal {
    const { settings } = this.#services;
    const secret = settings.secrets.with(caller.role);
    const listenerNonce = readNonce(headers[HEADERS.challenge]);
    const isFresh =
      listenerNonce !== undefined && this.#challenges.isGood(listenerNonce, caller, callerNonce);
    const transcript: Transcript<KnownClaim> = {
      version,
      caller,
      listener: settings.own,
      callerNonce,
      listenerNonce: listenerNonce ?? '',
    };
    if (!isFresh || !isProof(headers[HEADERS.proof], 'caller', secret, transcript))
      return this.#challenge(caller, callerNonce, version, headers[HEADERS.proof] === undefined);
    if (settings.isMutual && !isCertified(socket, caller, settings.roles))
      return refusal(403, 'the certificate says something else');
    const refused = this.#refusalOf(caller);
    if (refused !== undefined) return this.#proved(refused, transcript);
    if (!this.#challenges.use(listenerNonce)) return refusal(503, 'too many handshakes');
    return {
      caller,
      linkId: linkIdOf(secret, transcript),
      headers: {
        ...this.#saying(version),
        [HEADERS.proof]: proofOf('listener', secret, transcript),
      },
    };
  }

  /** Challenge, which is also the answer to a wrong proof: it says no more than to none. */
  #challenge(
    caller: KnownClaim,
    callerNonce: string,
    version: number,
    isExpected: boolean,
  ): Refusal {
    const asked = refusal(401, 'show that you know the secret', {
      'www-authenticate': 'Escapement',
      ...this.#saying(version),
      [HEADERS.nonce]: this.#challenges.ask(caller, callerNonce),
    });
    return { ...asked, isExpected };
  }

  /** Judges a caller that has proved who it is. */
  #refusalOf(caller: KnownClaim): Refusal | undefined {
    const { options, bans, links, settings } = this.#services;
    const leftMs = bans.leftMs(caller.node);
    if (leftMs > 0)
      return refusal(403, 'kept away for a while', {
        'retry-after': String(Math.ceil(leftMs / 1_000)),
      });
    const { node } = caller;
    if (node === settings.own.node) return refusal(409, 'that is the name of this node');
    const unwanted = options.admit?.({ node, ...identityOf(caller) });
    if (unwanted !== undefined) return refusal(403, unwanted);
    const ahead = links.refusalOfEpoch(caller);
    if (ahead !== undefined) return refusal(403, ahead);
    const taken = links.refusalOfCaller(caller);
    if (taken !== undefined) return refusal(409, taken);
    if (links.size >= settings.limits.connectionsMax && links.get(node) === undefined)
      return refusal(503, 'too many connections');
    return undefined;
  }

  /** One client has some of the places, and all clients together leave some to peers. */
  #crowdedBy(client: string, { node }: KnownClaim): Refusal | undefined {
    const { links, settings } = this.#services;
    const { connectionsMax, connectionsPerClientMax } = settings.limits;
    // It takes the place of its own former connection.
    if (links.get(node) !== undefined) return undefined;
    const clients = links.clients();
    const own = clients.filter((name) => name === client || name.startsWith(`${client}~`));
    if (own.length >= connectionsPerClientMax)
      return refusal(429, 'too many connections of this client');
    return clients.length >= Math.ceil(connectionsMax * CLIENTS_SHARE)
      ? refusal(503, 'too many connections of clients')
      : undefined;
  }

  /** A caller may end because of it, so it is not to be had from anybody. */
  #proved(refused: Refusal, transcript: Transcript<KnownClaim>): Refusal {
    const { links, settings, namesake } = this.#services;
    const { caller, listener } = transcript;
    const isNamesake = caller.node === listener.node;
    if (isNamesake && caller.bootEpoch < listener.bootEpoch) namesake();
    const isFirst = isNamesake && caller.bootEpoch > listener.bootEpoch;
    const isLater = refused.status === 409 && links.isSuperseded(caller);
    if (!isFirst && !isLater) return refused;
    const secret = settings.secrets.with(caller.role);
    const proof = proofOf(isFirst ? 'namesake' : 'later', secret, transcript);
    return { ...refused, headers: { ...refused.headers, [HEADERS.proof]: proof } };
  }

  #saying(version: number): Record<string, string> {
    return { ...claimHeaders(this.#services.settings.own), [HEADERS.version]: String(version) };
  }
}

export function isRefusal(judged: Admission | Refusal): judged is Refusal {
  return 'status' in judged;
}

function refusal(
  status: number,
  reason: string,
  headers?: Readonly<Record<string, string>>,
): Refusal {
  return headers === undefined ? { status, reason } : { status, reason, headers };
}

function sizeOf({ rawHeaders, url = '' }: IncomingMessage): number {
  let size = url.length;
  for (const part of rawHeaders) size += part.length + 2;
  return size;
}
