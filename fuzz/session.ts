/**
 * One session of somebody who has proved who he is, and then does not keep to the rules.
 *
 * It is made of its seed alone: the same seed sends the same kinds of frames to the same listener. Most
 * frames are of the right shape; what ends the session comes last, so that what comes before is looked
 * at. The names in the recorded envelopes are replaced by those of the session and of the listener.
 */

import type { Claim } from '../transports/websocket/claim.ts';
import { FrameWriter, LINK_ID_LENGTH } from '../transports/websocket/frame-text.ts';
import { type Corpus, type Listener, NAMES, type Sample, type Speaker } from './corpus.ts';
import { Dice } from './dice.ts';
import { type OpenSession, openSession } from './handshake.ts';
import { harshFrame, tameFrame } from './mutations.ts';
import { CLIENT, OPEN } from './names.ts';
import { frameBytes, OPCODE } from './raw-socket.ts';

const TAME_MAX = 400;
/** Fewer than end a session. */
const HARSH_EARLY = 2;
const WRITE_BYTES = 64 * 1024;
const HARSH_LAST = 6;

export interface SessionEnd {
  readonly frames: number;
  readonly refusals: readonly string[];
  /** The close code; 0 where the connection just ended, -1 where it was not let in. */
  readonly closedBy: number;
  /** False when the node has not reacted in time; may take longer than the session. */
  readonly isAnswered: Promise<boolean>;
}

export interface Urls {
  readonly manager: string;
  readonly gate: string;
}

/** Who talks to whom. */
const PAIRS: ReadonlyArray<readonly [Speaker, Listener]> = [
  ['worker', 'manager'],
  ['worker', 'manager'],
  ['client', 'manager'],
  ['client', 'gate'],
  ['gate', 'manager'],
  ['manager', 'gate'],
];

let bootEpoch = Date.now();

export async function playSession(
  seed: string,
  corpus: Corpus,
  urls: Urls,
  slot: number,
  settled?: () => Promise<void>,
): Promise<SessionEnd> {
  const dice = new Dice(seed);
  const [speaker, listener] = dice.pick(PAIRS);
  bootEpoch += 1;
  const claim = claimOf(speaker, slot, bootEpoch);
  const session = await openSession(new URL(urls[listener]), claim);
  if (session === undefined)
    return { frames: 1, refusals: [], closedBy: -1, isAnswered: Promise.resolve(true) };
  const samples = samplesFor(corpus, speaker, listener, claim);
  const frames = await send(session, dice, samples, settled);
  const { socket } = session;
  if (!frames.isCutOff) {
    const isAnswered = await socket.isHeard();
    socket.end();
    return endOf(session, frames.count, Promise.resolve(isAnswered));
  }
  // What ends in the middle of a frame is answered when its time is up; nobody has to wait for that.
  const isAnswered = socket.isHungUp().finally(() => socket.end());
  return endOf(session, frames.count, isAnswered);
}

function endOf({ socket }: OpenSession, frames: number, isAnswered: Promise<boolean>): SessionEnd {
  return { frames, refusals: socket.refusals, closedBy: socket.closeCode, isAnswered };
}

/** What somebody does who should not have been let in: asks for what every client may ask for. */
export async function trespass(
  { socket, linkId, claim }: OpenSession,
  dice: Dice,
  corpus: Corpus,
): Promise<number> {
  const writer = new FrameWriter(linkId);
  const { node } = claim;
  const samples = samplesFor(corpus, 'client', 'manager', claim);
  const numbering = { counter: dice.below(1_000_000) };
  let frames = 0;
  for (const { envelope } of samples) {
    numbering.counter += 1;
    const from = `session:x${numbering.counter}@${node}`;
    const event = { ...(envelope.event as object), replyTo: undefined };
    const asked = { ...envelope, event, from, counter: numbering.counter, after: 0 };
    await socket.write(textBytes(writer.write(JSON.stringify({ v: 1, envelopes: [asked] }))));
    frames += 1;
  }
  await socket.isHeard();
  socket.end();
  return frames;
}

async function send(
  { socket, linkId, claim }: OpenSession,
  dice: Dice,
  samples: readonly Sample[],
  settled: (() => Promise<void>) | undefined,
): Promise<{ readonly count: number; readonly isCutOff: boolean }> {
  const writer = new FrameWriter(linkId);
  const numbering = { counter: Date.now() % 1_000_000_000 };
  const hello = { node: claim.node, places: [[claim.place, 1]], isAsking: true };
  let waiting: Buffer[] = [textBytes(writer.write(JSON.stringify({ v: 1, hello })))];
  let bytes = 0;
  let count = 1;
  const put = async (frame: Buffer): Promise<void> => {
    waiting.push(frame);
    bytes += frame.length;
    count += 1;
    if (bytes < WRITE_BYTES && settled === undefined) return;
    const all = Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
    await socket.write(all);
    await settled?.();
  };
  const tame = 20 + dice.below(TAME_MAX);
  let harshLeft = HARSH_EARLY;
  for (let index = 0; index < tame && !socket.isEnded; index += 1) {
    if (harshLeft > 0 && dice.isLucky(1 / TAME_MAX)) {
      harshLeft -= 1;
      await put(textBytes(writer.write(harshFrame(dice, samples, numbering))));
    }
    await put(textBytes(writer.write(tameFrame(dice, samples, numbering))));
  }
  if (dice.isLucky(0.6))
    for (let left = HARSH_LAST; left > 0 && !socket.isEnded; left -= 1)
      await put(textBytes(writer.write(harshFrame(dice, samples, numbering))));
  const last = lastFrames(dice, writer, samples);
  for (const frame of last.frames) await put(frame);
  await socket.write(Buffer.concat(waiting));
  return { count, isCutOff: last.isCutOff };
}

/** What no good implementation of the protocol below sends. */
function lastFrames(
  dice: Dice,
  writer: FrameWriter,
  samples: readonly Sample[],
): { readonly frames: readonly Buffer[]; readonly isCutOff: boolean } {
  const good = writer.write(tameFrame(dice, samples, { counter: 1 }));
  const bytes = Buffer.from(good);
  const whole = (...frames: Buffer[]) => ({ frames, isCutOff: false });
  const cutOff = (...frames: Buffer[]) => ({ frames, isCutOff: true });
  const { text, binary, continuation, ping, close } = OPCODE;
  const many = (frame: Buffer, times: number): Buffer[] =>
    Array.from({ length: times }, () => frame);
  return dice.pick([
    () => whole(...many(textBytes(good), 4)),
    () => whole(...many(textBytes(flipped(good, dice)), 4)),
    () => whole(...many(textBytes(`${good.slice(0, 8)}${'Z'.repeat(LINK_ID_LENGTH)}`), 4)),
    () => whole(...many(textBytes(good.slice(0, dice.below(24))), 4)),
    () => whole(frameBytes(binary, bytes)),
    () => whole(frameBytes(text, Buffer.from([0xff, 0xfe, 0xc0, 0x80]))),
    () => whole(frameBytes(text, bytes, { first: 0x80 | 0x70 | text })),
    () => whole(frameBytes(text, bytes, { first: 0x80 | (3 + dice.below(5)) })),
    () => whole(frameBytes(text, bytes, { mask: 0 })),
    () => whole(frameBytes(continuation, bytes)),
    () => whole(...many(frameBytes(ping, Buffer.alloc(0)), 300)),
    () => whole(frameBytes(ping, Buffer.alloc(126))),
    () => whole(frameBytes(close, Buffer.from([dice.below(256), dice.below(256), 0xff]))),
    () => whole(frameBytes(text, bytes.subarray(0, 1), { length: 2 ** 40 })),
    () => whole(...many(frameBytes(continuation, bytes.subarray(0, 1), { first: text }), 2)),
    () =>
      whole(
        frameBytes(text, bytes.subarray(0, 1), { first: text }),
        ...many(frameBytes(continuation, bytes.subarray(0, 1), { first: continuation }), 200),
      ),
    () => cutOff(frameBytes(text, bytes.subarray(0, 3), { length: 100 })),
    () => cutOff(frameBytes(text, bytes, { first: text })),
    () => whole(),
  ])();
}

function flipped(frame: string, dice: Dice): string {
  const at = dice.below(frame.length);
  const letter = frame.charCodeAt(at) ^ (1 << dice.below(5));
  return `${frame.slice(0, at)}${String.fromCharCode(letter)}${frame.slice(at + 1)}`;
}

export function textBytes(text: string): Buffer {
  return frameBytes(OPCODE.text, Buffer.from(text));
}

export function claimOf(speaker: Speaker, slot: number, epoch: number): Claim {
  const node = {
    worker: `A.worker-${slot}`,
    client: `${CLIENT}~${slot}-${epoch}`,
    gate: OPEN.gates[slot] as string,
    manager: `${OPEN.datacenters[slot]}.manager-1`,
  }[speaker];
  const place = speaker === 'manager' ? (OPEN.datacenters[slot] as string) : node;
  return { node, role: speaker, place, bootEpoch: epoch };
}

/** The recorded envelopes, with the names of this peer and its listener. */
export function samplesFor(
  corpus: Corpus,
  speaker: Speaker,
  listener: Listener,
  { node, place }: Claim,
): readonly Sample[] {
  const samples = corpus.get(`${speaker}>${listener}`) ?? [];
  const to = listener === 'manager' ? 'A' : 'gate';
  const datacenter = speaker === 'manager' ? place : 'A';
  const gate = speaker === 'gate' ? place : 'gate';
  return samples.map(({ envelope }) => {
    const text = JSON.stringify(envelope)
      .replaceAll(
        new RegExp(`${NAMES.client}~[A-Z0-9-]+`, 'g'),
        speaker === 'client' ? node : 'c~1',
      )
      .replaceAll(NAMES.manager, speaker === 'manager' ? node : 'A.manager-1')
      .replaceAll(NAMES.worker, speaker === 'worker' ? node : 'A.worker-0')
      .replaceAll(NAMES.gate, listener === 'gate' ? to : gate)
      .replaceAll(NAMES.datacenter, datacenter);
    return { envelope: JSON.parse(text) as Sample['envelope'] };
  });
}
