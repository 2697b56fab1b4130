/**
 * Calls a listener by hand: every header and every byte as a test wants it.
 *
 * It can go through the handshake as a good node would, and then says on the open connection
 * whatever it is told to.
 */

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { type Claim, claimHeaders, HEADERS } from '../../transports/websocket/claim.ts';
import { FrameWriter } from '../../transports/websocket/frame-text.ts';
import { linkIdOf, proofOf, type Transcript } from '../../transports/websocket/proof.ts';
import { SECRET } from './socket-network.ts';

export type Headers = Record<string, string>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly socket: Socket;
  /** What came after the head. */
  readonly rest: Buffer;
}

export const MALLORY: Claim = { node: 'm', role: 'node', place: 'm', bootEpoch: 7 };

export function newNonce(): string {
  return randomBytes(16).toString('base64url');
}

/** The headers of a first question; a header that is '' is left out. */
export function question(claim: Claim, nonce: string, changes: Headers = {}): Headers {
  return {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': randomBytes(16).toString('base64'),
    'sec-websocket-protocol': 'escapement.1',
    ...claimHeaders(claim),
    [HEADERS.nonce]: nonce,
    ...changes,
  };
}

export async function ask(url: string, headers: Headers, path?: string): Promise<Answer> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => socket.destroy());
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers })
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`);
  socket.write(`GET ${path ?? pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  return readAnswer(socket);
}

/** The answer to a first question, as what the second one has to sign. */
export function transcriptOf(answer: Answer, caller: Claim, callerNonce: string): Transcript {
  const { headers } = answer;
  const listener: Claim = {
    node: headers[HEADERS.node] as string,
    role: headers[HEADERS.role] as Claim['role'],
    place: headers[HEADERS.place] as string,
    bootEpoch: Number(headers[HEADERS.bootEpoch]),
  };
  const listenerNonce = headers[HEADERS.nonce] as string;
  return { version: 1, caller, listener, callerNonce, listenerNonce };
}

export function proofHeaders(transcript: Transcript, secret = SECRET): Headers {
  return {
    [HEADERS.challenge]: transcript.listenerNonce,
    [HEADERS.proof]: proofOf('caller', secret, transcript),
  };
}

/** Goes through the handshake; `changes` are headers of the second question. */
export async function callIn(
  url: string,
  claim: Claim = MALLORY,
  changes: Headers = {},
  secret = SECRET,
): Promise<{ readonly answer: Answer; readonly transcript: Transcript }> {
  const nonce = newNonce();
  const asked = await ask(url, question(claim, nonce));
  asked.socket.destroy();
  const transcript = transcriptOf(asked, claim, nonce);
  const proof = proofHeaders(transcript, secret);
  const answer = await ask(url, question(claim, nonce, { ...proof, ...changes }));
  return { answer, transcript };
}

/** A connection that was let in. */
export interface RawLink {
  readonly socket: Socket;
  readonly linkId: string;
  readonly writer: FrameWriter;
  /** Resolves with the code of the close frame, or 1006 when the socket ends without one. */
  readonly closed: Promise<number>;
  write(bytes: Buffer): void;
}

export async function openRaw(url: string, claim = MALLORY, secret = SECRET): Promise<RawLink> {
  const { answer, transcript } = await callIn(url, claim, {}, secret);
  return linkOf(answer, linkIdOf(secret, transcript));
}

/** The same for a client, which knows no secret; without a token where nodes want none. */
export async function openRawClient(url: string, claim: Claim, token?: string): Promise<RawLink> {
  const nonce = newNonce();
  const shown: Headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await ask(url, question(claim, nonce, shown));
  const transcript = { ...transcriptOf(answer, claim, nonce), listenerNonce: '' };
  return linkOf(answer, linkIdOf('', transcript));
}

function linkOf(answer: Answer, linkId: string): RawLink {
  if (answer.status !== 101) throw new Error(`not let in: ${answer.status}`);
  return {
    socket: answer.socket,
    linkId,
    writer: new FrameWriter(linkId),
    closed: closeCode(answer),
    write: (bytes) => answer.socket.write(bytes),
  };
}

export interface FrameParts {
  /** 1 text, 2 binary, 0 a further fragment, 8 close, 9 ping, 10 pong. Default 1. */
  readonly opcode?: number;
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  readonly reserved?: number;
}

/** A WebSocket frame as bytes, masked with zeros. */
export function webSocketFrame(payload: string | Buffer, parts: FrameParts = {}): Buffer {
  const { opcode = 1, isFinal = true, isMasked = true, reserved = 0 } = parts;
  const bytes = Buffer.from(payload);
  const first = (isFinal ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = isMasked ? 0x80 : 0;
  let head: Buffer;
  if (bytes.length < 126) head = Buffer.from([first, mask | bytes.length]);
  else if (bytes.length < 65_536) {
    head = Buffer.from([first, mask | 126, 0, 0]);
    head.writeUInt16BE(bytes.length, 2);
  } else {
    head = Buffer.alloc(10);
    head[0] = first;
    head[1] = mask | 127;
    head.writeBigUInt64BE(BigInt(bytes.length), 2);
  }
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), bytes]);
}

function readAnswer(socket: Socket): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const ended = () => reject(new Error('the socket was closed without an answer'));
    const take = (chunk: Buffer) => {
      got = Buffer.concat([got, chunk]);
      const end = got.indexOf('\r\n\r\n');
      if (end === -1) return;
      socket.off('data', take);
      socket.off('close', ended);
      const [first = '', ...lines] = got.toString('latin1', 0, end).split('\r\n');
      const headers: Headers = {};
      for (const line of lines) {
        const colon = line.indexOf(':');
        headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
      }
      resolve({
        status: Number(first.split(' ')[1]),
        headers,
        socket,
        rest: got.subarray(end + 4),
      });
    };
    socket.on('data', take);
    socket.on('close', ended);
  });
}

/** Frames from the listener are not masked, and those before a close are small. */
function closeCode({ socket, rest }: Answer): Promise<number> {
  return new Promise((resolve) => {
    let got = rest;
    const look = () => {
      let at = 0;
      while (got.length - at >= 2) {
        const length7 = (got[at + 1] as number) & 0x7f;
        const head = length7 === 126 ? 4 : length7 === 127 ? 10 : 2;
        if (got.length - at < head) break;
        const length =
          length7 === 126
            ? got.readUInt16BE(at + 2)
            : length7 === 127
              ? Number(got.readBigUInt64BE(at + 2))
              : length7;
        if (got.length - at < head + length) break;
        if (((got[at] as number) & 0x0f) === 8) {
          resolve(length >= 2 ? got.readUInt16BE(at + head) : 1005);
          return;
        }
        at += head + length;
      }
      got = got.subarray(at);
    };
    socket.on('data', (chunk: Buffer) => {
      got = Buffer.concat([got, chunk]);
      look();
    });
    socket.on('close', () => resolve(1006));
    look();
  });
}
