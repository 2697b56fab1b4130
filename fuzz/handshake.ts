/**
 * The handshake of a peer, written by hand: what a node would send, and what is wrong with it when
 * it comes from somebody who does not know the secret.
 */

import { randomBytes } from 'node:crypto';
import { JOBS_ROLES, type JobsRole } from '../programs/jobs/peer-roles.ts';
import { type Claim, claimHeaders, HEADERS, readClaim } from '../transports/websocket/claim.ts';
import { linkIdOf, proofOf, type Transcript } from '../transports/websocket/proof.ts';
import type { Dice } from './dice.ts';
import { smallValue } from './hostile-values.ts';
import { CLIENT, SECRET, TOKEN } from './names.ts';
import { type Head, RawSocket } from './raw-socket.ts';

const VERSION = 1;

type Headers = Record<string, string>;

export interface OpenSession {
  readonly socket: RawSocket;
  readonly linkId: string;
  readonly claim: Claim;
  /** The headers that let it in, as somebody who listened in would have them. */
  readonly headers: Headers;
}

/** Opens a session as this peer; undefined when it is not let in. */
export async function openSession(
  url: URL,
  claim: Claim,
  secret: string = SECRET,
): Promise<OpenSession | undefined> {
  const isClient = claim.role === 'client';
  const nonce = randomBytes(16).toString('base64url');
  const asking = { ...upgradeHeaders(), ...claimHeaders(claim), [HEADERS.nonce]: nonce };
  if (isClient)
    return entered(url, { ...asking, authorization: `Bearer ${TOKEN}` }, claim, nonce, '');
  const first = new RawSocket(url);
  await first.write(request(url, asking));
  const head = await first.head();
  first.end();
  const listenerNonce = head?.headers[HEADERS.nonce];
  if (head === undefined || listenerNonce === undefined) return undefined;
  const transcript = transcriptOf(head, claim, nonce, listenerNonce);
  const proof = proofOf('caller', secret, transcript);
  const shown = { ...asking, [HEADERS.challenge]: listenerNonce, [HEADERS.proof]: proof };
  return entered(url, shown, claim, nonce, secret, listenerNonce);
}

async function entered(
  url: URL,
  headers: Headers,
  claim: Claim,
  nonce: string,
  secret: string,
  listenerNonce = '',
): Promise<OpenSession | undefined> {
  const socket = new RawSocket(url);
  await socket.write(request(url, headers));
  const head = await socket.head();
  if (head?.status === 101) {
    const transcript = transcriptOf(head, claim, nonce, listenerNonce);
    return { socket, linkId: linkIdOf(secret, transcript), claim, headers };
  }
  socket.end();
  return undefined;
}

/** What somebody tries who knows neither the secret nor a token. `seen`: headers that let somebody else in before. */
export async function intrude(
  url: URL,
  dice: Dice,
  seen: Headers,
): Promise<{ readonly status: number; readonly session: OpenSession | undefined }> {
  const claim = strangerClaim(dice);
  const guesses = ['', 'x'.repeat(32), 'secret', SECRET.slice(0, -1), `${SECRET} `];
  if (dice.isLucky(0.25)) {
    const session = await openSession(url, { ...claim, role: peerRole(dice) }, dice.pick(guesses));
    return { status: session === undefined ? 401 : 101, session };
  }
  const socket = new RawSocket(url);
  const nonce = dice.isLucky(0.9) ? randomBytes(16).toString('base64url') : odd(dice);
  let headers: Headers = {
    ...upgradeHeaders(),
    ...claimHeaders(claim),
    [HEADERS.nonce]: nonce,
  };
  if (dice.isLucky(0.3)) headers = { ...seen };
  if (dice.isLucky(0.3))
    Object.assign(headers, {
      [HEADERS.challenge]: randomBytes(34).toString('base64url'),
      [HEADERS.proof]: randomBytes(32).toString('base64url'),
    });
  if (dice.isLucky(0.2)) headers.authorization = `Bearer ${odd(dice)}`;
  for (let left = dice.below(3); left > 0; left -= 1) spoil(headers, dice);
  await socket.write(garbled(request(url, headers, dice), dice));
  // Half a request is not answered before its time is up.
  const head = await Promise.race([socket.head(), patience()]);
  const { status = 0 } = head ?? {};
  if (status !== 101) {
    socket.end();
    return { status, session: undefined };
  }
  const transcript = transcriptOf(head as Head, claim, nonce, '');
  return { status, session: { socket, linkId: linkIdOf('', transcript), claim, headers } };
}

function strangerClaim(dice: Dice): Claim {
  const node = dice.pick(['A.worker-9', 'gate', 'A.manager-1', 'B0.manager-1', `${CLIENT}~1`, 'x']);
  const role = dice.pick(['gate', 'manager', 'worker', 'client', 'node'] as const);
  const place = dice.pick([node, 'A', 'gate']);
  return { node, role, place, bootEpoch: Date.now() };
}

function peerRole(dice: Dice): JobsRole {
  return dice.pick(['gate', 'manager', 'worker', 'node'] as const);
}

function spoil(headers: Headers, dice: Dice): void {
  const name = dice.pick([...Object.keys(headers), 'origin', 'x-extra', 'transfer-encoding']);
  switch (dice.below(4)) {
    case 0:
      delete headers[name];
      break;
    case 1:
      headers[name] = odd(dice);
      break;
    case 2:
      headers[name] = 'y'.repeat(dice.pick([200, 5_000, 20_000]));
      break;
    default:
      headers[name] = `${headers[name] ?? ''}${odd(dice)}`;
  }
}

/** Bytes that are no request any more, or a request with frames right behind it. */
function garbled(text: string, dice: Dice): string | Buffer {
  const at = dice.below(text.length);
  return dice.pick<() => string | Buffer>([
    () => text,
    () => text,
    () => text,
    () => text,
    () => `${text}${'\x81\x05hello'.repeat(3)}`,
    () => text.slice(0, at),
    () => text.replace('GET', dice.pick(['POST', 'HEAD', 'get', '\0', 'PRI'])),
    () =>
      text.replace(
        '\r\n\r\n',
        '\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      ),
    () => `${text.slice(0, at)}${String.fromCharCode(dice.below(256))}${text.slice(at + 1)}`,
    () => randomBytes(1 + dice.below(300)),
    () => Buffer.from('160301020001000001fc0303', 'hex'),
  ])();
}

function request(url: URL, headers: Headers, dice?: Dice): string {
  const path = dice?.isLucky(0.1)
    ? dice.pick(['/', '//', '/peers/', '/peers%00', '/../peers', `/${'p'.repeat(9_000)}`])
    : url.pathname;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\nHost: ${url.host}\r\n${lines.join('\r\n')}\r\n\r\n`;
}

function upgradeHeaders(): Headers {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-protocol': `escapement.${VERSION}`,
  };
}

function transcriptOf(head: Head, caller: Claim, nonce: string, listenerNonce: string): Transcript {
  const nobody: Claim = { node: '', role: 'node', place: '', bootEpoch: 0 };
  const listener = readClaim(head.headers, JOBS_ROLES) ?? nobody;
  return { version: VERSION, caller, listener, callerNonce: nonce, listenerNonce };
}

function odd(dice: Dice): string {
  return String(smallValue(dice)).replace(/[\r\n]/g, ' ');
}

function patience(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, 100, undefined));
}
