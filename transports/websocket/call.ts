/**
 * Call: one attempt to reach a peer. Its steps: ask, be asked to prove oneself, prove, and be let in.
 *
 *   asking ──401 and a nonce──▶ proving ──101 and a proof──▶ open
 *
 * Guarantees: it ends exactly once, in one of the ways of `CallEnd`; after `breakOff` in none. A peer that
 * does not prove that it knows the secret, too, is hung up on before anything is said.
 */

import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import { messageOf } from '../../runtime/base/errors.ts';
import { dialTls, isCertified } from './certificate.ts';
import { newNonce } from './challenges.ts';
import {
  claimHeaders,
  HEADERS,
  identityOf,
  type KnownClaim,
  offeredProtocols,
  protocolOf,
  readClaim,
  readNonce,
  VERSIONS,
} from './claim.ts';
import type { Links } from './links.ts';
import type { Settings, WebSocketOptions } from './options.ts';
import { isProof, linkIdOf, proofOf, type Side, type Transcript } from './proof.ts';

const BUFFERED_CHUNKS_MAX = 4_096;

export interface CallServices {
  readonly options: WebSocketOptions;
  readonly settings: Settings;
  readonly links: Links;
}

export interface CallEnd {
  /** The peer has said who it is; it has not proved it yet. */
  answered(node: string): void;
  opened(webSocket: WebSocket, socket: Socket, peer: KnownClaim, linkId: string): void;
  /** There is no use in going on now: it is connected already, or must not be. */
  pointless(reason: string): void;
  /** Something with the name of this node has answered: itself, or another that has proved it or not. */
  isOwnName(who: 'self' | 'unproved' | 'earlier'): void;
  /** `status`: of the answer, if there was one. */
  failed(reason: string, status?: number): void;
  /** The peer has refused this start, and proved that it knows a later one. */
  superseded(node: string, reason: string): void;
}

export class Call {
  readonly #url: URL;
  readonly #services: CallServices;
  readonly #end: CallEnd;
  readonly #nonce = newNonce();
  #webSocket: WebSocket | undefined;
  #provingTo: string | undefined;

  constructor(url: URL, services: CallServices, end: CallEnd) {
    this.#url = url;
    this.#services = services;
    this.#end = end;
    this.#dial(offeredProtocols());
  }

  readonly breakOff = (): void => {
    const webSocket = this.#webSocket;
    this.#webSocket = undefined;
    this.#doneProving();
    webSocket?.terminate();
  };

  #dial(protocols: string[], transcript?: Transcript<KnownClaim>): void {
    const { options, settings } = this.#services;
    const webSocket = new WebSocket(this.#url, protocols, {
      headers: this.#headers(transcript),
      handshakeTimeout: settings.limits.handshakeMs,
      perMessageDeflate: false,
      maxPayload: settings.limits.peerFrameBytesMax,
      maxFragments: settings.limits.fragmentsMax,
      maxBufferedChunks: BUFFERED_CHUNKS_MAX,
      // Masks guard proxies against scripts in browsers. There is none here: a mask of zeros costs nothing.
      generateMask: () => {},
      ...dialTls(options.tls, settings.isMutual, settings.own.rights.isClient, settings.roles),
    });
    this.#webSocket = webSocket;
    const isCurrent = () => this.#webSocket === webSocket;
    let answer: IncomingMessage | undefined;
    webSocket.on('error', (error) => {
      if (isCurrent()) this.#fail(messageOf(error));
    });
    webSocket.on('unexpected-response', (request, response) => {
      if (isCurrent()) this.#refused(request, response, transcript);
    });
    webSocket.on('upgrade', (response) => {
      answer = response;
    });
    webSocket.on('open', () => {
      if (isCurrent() && answer !== undefined) this.#letIn(webSocket, answer, transcript);
    });
  }

  #headers(transcript: Transcript<KnownClaim> | undefined): Record<string, string> {
    const { settings, options } = this.#services;
    const said = { ...claimHeaders(settings.own), [HEADERS.nonce]: this.#nonce };
    if (settings.own.rights.isClient && options.token !== undefined)
      return { ...said, authorization: `Bearer ${options.token}` };
    if (transcript === undefined) return said;
    return {
      ...said,
      [HEADERS.challenge]: transcript.listenerNonce,
      [HEADERS.proof]: proofOf('caller', this.#secret(transcript), transcript),
    };
  }

  #refused(
    request: ClientRequest,
    response: IncomingMessage,
    shown: Transcript<KnownClaim> | undefined,
  ): void {
    this.#webSocket = undefined;
    response.resume();
    request.destroy();
    const { statusCode, headers } = response;
    const { own, roles } = this.#services.settings;
    const listener = readClaim(headers, roles);
    const nonce = readNonce(headers[HEADERS.nonce]);
    const isAsked = statusCode === 401 && listener !== undefined && nonce !== undefined;
    if (!isAsked || shown !== undefined || own.rights.isClient) {
      const reason = `${statusCode}: ${String(headers[HEADERS.reason] ?? 'refused')}`;
      const isShown = (side: Side) =>
        shown !== undefined &&
        statusCode === 409 &&
        isProof(headers[HEADERS.proof], side, this.#secret(shown), shown);
      this.breakOff();
      if (shown?.listener.node === own.node)
        this.#end.isOwnName(isShown('namesake') ? 'earlier' : 'unproved');
      else if (shown !== undefined && isShown('later'))
        this.#end.superseded(shown.listener.node, reason);
      else this.#end.failed(reason, statusCode);
      return;
    }
    const version = Number(headers[HEADERS.version]);
    if (!(version >= VERSIONS.min && version <= VERSIONS.max)) {
      this.#fail(`it speaks version ${String(headers[HEADERS.version])}`);
      return;
    }
    this.#prove(this.#transcript(version, listener, nonce));
  }

  #prove(transcript: Transcript<KnownClaim>): void {
    const { links, settings } = this.#services;
    const { listener, version } = transcript;
    this.#end.answered(listener.node);
    if (listener.node === settings.own.node) {
      if (listener.bootEpoch === settings.own.bootEpoch) this.#end.isOwnName('self');
      else this.#dial([protocolOf(version)], transcript);
      return;
    }
    const pointless = links.refusalOfListener(listener);
    if (pointless !== undefined) {
      this.#end.pointless(pointless);
      return;
    }
    this.#provingTo = listener.node;
    links.proving(listener.node, this.#yield);
    this.#dial([protocolOf(version)], transcript);
  }

  #letIn(
    webSocket: WebSocket,
    { headers, socket }: IncomingMessage,
    shown?: Transcript<KnownClaim>,
  ): void {
    const { settings, links, options } = this.#services;
    const isClient = settings.own.rights.isClient;
    const transcript = isClient ? this.#clientTranscript(headers) : shown;
    const isProved =
      isClient ||
      (shown && isProof(headers[HEADERS.proof], 'listener', this.#secret(shown), shown));
    if (transcript === undefined && isClient) {
      this.#fail('it names no role that this client knows ("roles")');
      return;
    }
    if (transcript === undefined || !isProved) {
      this.#fail('it does not prove that it knows the secret');
      return;
    }
    const { listener } = transcript;
    if (settings.isMutual && !isCertified(socket, listener, settings.roles)) {
      this.#fail('its certificate says something else');
      return;
    }
    const { node } = listener;
    const unwanted =
      options.admit?.({ node, ...identityOf(listener) }) ?? links.refusalOfEpoch(listener);
    if (unwanted !== undefined) {
      this.#fail(unwanted);
      return;
    }
    this.#webSocket = undefined;
    this.#doneProving();
    this.#end.answered(listener.node);
    const pointless = links.refusalOfListener(listener);
    if (pointless !== undefined) {
      webSocket.terminate();
      this.#end.pointless(pointless);
      return;
    }
    this.#end.opened(
      webSocket,
      socket,
      listener,
      linkIdOf(isClient ? '' : this.#secret(transcript), transcript),
    );
  }

  #secret({ listener }: Transcript<KnownClaim>): string {
    return this.#services.settings.secrets.with(listener.role);
  }

  #clientTranscript(headers: IncomingMessage['headers']): Transcript<KnownClaim> | undefined {
    const listener = readClaim(headers, this.#services.settings.roles);
    const version = Number(headers[HEADERS.version]);
    return listener && this.#transcript(version, listener, '');
  }

  #transcript(
    version: number,
    listener: KnownClaim,
    listenerNonce: string,
  ): Transcript<KnownClaim> {
    const caller = this.#services.settings.own;
    return { version, caller, listener, callerNonce: this.#nonce, listenerNonce };
  }

  /** The peer has dialled us meanwhile, and that connection stays. */
  readonly #yield = (): void => {
    this.breakOff();
    this.#end.pointless('it has dialled this node');
  };

  #doneProving(): void {
    if (this.#provingTo !== undefined)
      this.#services.links.doneProving(this.#provingTo, this.#yield);
    this.#provingTo = undefined;
  }

  #fail(reason: string): void {
    this.breakOff();
    this.#end.failed(reason);
  }
}
