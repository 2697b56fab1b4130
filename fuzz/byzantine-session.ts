/**
 * One session of a peer that has proved its role and lies; made of its seed alone.
 *
 * Now and then it says at the door already that it is somebody else: then it must not get in.
 */

import { FrameWriter } from '../transports/websocket/frame-text.ts';
import { lyingFrame } from './claims.ts';
import type { Corpus, Listener, Speaker } from './corpus.ts';
import { Dice } from './dice.ts';
import { openSession } from './handshake.ts';
import type { ByzantineRole } from './remit.ts';
import { claimOf, type SessionEnd, samplesFor, textBytes, type Urls } from './session.ts';

export interface ByzantineEnd extends SessionEnd {
  /** It said that it was somebody whom its role must not be. */
  readonly isStranger: boolean;
}

const SPEAKER: Readonly<Record<ByzantineRole, Speaker>> = {
  worker: 'worker',
  client: 'client',
  'manager-of-another-place': 'manager',
};
const LISTENERS: Readonly<Record<ByzantineRole, readonly Listener[]>> = {
  worker: ['manager'],
  client: ['manager', 'gate'],
  'manager-of-another-place': ['gate'],
};
const FRAMES_MIN = 50;
const FRAMES_MORE = 250;
const WRITE_BYTES = 64 * 1024;
const STRANGERS_SHARE = 0.02;
const DAY_MS = 86_400_000;

let bootEpoch = Date.now();

export async function playByzantine(
  role: ByzantineRole,
  seed: string,
  corpus: Corpus,
  urls: Urls,
  slot: number,
): Promise<ByzantineEnd> {
  const dice = new Dice(seed);
  const speaker = SPEAKER[role];
  const listener = dice.pick(LISTENERS[role]);
  bootEpoch += 1;
  const claim = claimOf(speaker, slot, bootEpoch);
  const isStranger = dice.isLucky(STRANGERS_SHARE);
  const shown = isStranger
    ? {
        ...claim,
        ...dice.pick([
          { node: listener === 'gate' ? 'gate' : 'A.manager-1' },
          { node: 'A', place: 'B1' },
          { bootEpoch: bootEpoch + 2 * DAY_MS },
          { bootEpoch: 2 ** 53 - 1 },
          ...(speaker === 'client' ? [] : [{ place: 'nowhere' }, { role: 'node' as const }]),
        ]),
      }
    : claim;
  const session = await openSession(new URL(urls[listener]), shown);
  if (session === undefined)
    return {
      frames: 1,
      refusals: [],
      closedBy: -1,
      isAnswered: Promise.resolve(true),
      isStranger,
    };
  const { socket, linkId } = session;
  const samples = samplesFor(corpus, speaker, listener, claim);
  const writer = new FrameWriter(linkId);
  const numbering = { counter: bootEpoch % 1_000_000_000 };
  let frames = 0;
  let waiting: Buffer[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    await socket.write(Buffer.concat(waiting));
    waiting = [];
    bytes = 0;
  };
  for (let left = FRAMES_MIN + dice.below(FRAMES_MORE); left > 0 && !socket.isEnded; left -= 1) {
    const frame = textBytes(writer.write(lyingFrame(dice, samples, numbering, claim)));
    waiting.push(frame);
    bytes += frame.length;
    frames += 1;
    if (bytes >= WRITE_BYTES) await flush();
  }
  if (!socket.isEnded) await flush();
  const isAnswered = await socket.isHeard();
  socket.end();
  return {
    frames,
    refusals: socket.refusals,
    closedBy: socket.closeCode,
    isAnswered: Promise.resolve(isAnswered),
    isStranger,
  };
}
