/** The small parts: what stands in front of a frame, what is seen of bytes as they come, rates and queues. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Bucket } from '../../runtime/base/token-bucket.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { Challenges, newNonce } from '../../transports/websocket/challenges.ts';
import { DialQueue } from '../../transports/websocket/dial-queue.ts';
import { FrameReader, FrameWriter } from '../../transports/websocket/frame-text.ts';
import { FrameWatch } from '../../transports/websocket/frame-watch.ts';
import { DEFAULT_WEBSOCKET_LIMITS } from '../../transports/websocket/limits.ts';
import { readProjectFile } from '../project-files.ts';
import { MALLORY, webSocketFrame } from './raw-caller.ts';

function handClock(): Clock & { at: number } {
  return {
    at: 1_000,
    now() {
      return this.at;
    },
    schedule: () => () => {},
    defer: () => {},
  };
}

describe('a frame on the wire', () => {
  test('comes out as it went in, and one bit changed anywhere is noticed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), fc.nat(7), (text, place, bit) => {
        const bytes = Buffer.from(new FrameWriter('abcdefgh').write(text));
        const reader = new FrameReader('abcdefgh');
        const damaged = Buffer.from(bytes);
        const at = place % bytes.length;
        damaged[at] = (damaged[at] as number) ^ (1 << bit);
        expect(reader.check(damaged)).toBeDefined();
        expect(reader.check(bytes)).toBeUndefined();
        expect(reader.textOf(bytes)).toBe(text);
      }),
    );
  });

  test('is damaged also where a number would be read as the same', () => {
    const writer = new FrameWriter('abcdefgh');
    let text = writer.write('x');
    while (!text.startsWith('0')) text = writer.write('x');
    const reader = new FrameReader('abcdefgh');
    expect(reader.check(Buffer.from(text.replace('0', ' ')))).toBe('damaged');
    expect(reader.check(Buffer.from(text))).toBeUndefined();
  });

  test('may follow one that was lost, but not come again or before', () => {
    const writer = new FrameWriter('abcdefgh');
    const [first, second, third] = ['a', 'b', 'c'].map((text) => Buffer.from(writer.write(text)));
    const reader = new FrameReader('abcdefgh');
    const checked = [first, third, third, second].map((bytes) => reader.check(bytes as Buffer));
    expect(checked).toEqual([undefined, undefined, 'out of order', 'out of order']);
  });
});

describe('bytes as they come in', () => {
  const piece = fc.record({
    length: fc.oneof(fc.nat(200), fc.constantFrom(125, 126, 65_535, 65_536)),
    fragments: fc.integer({ min: 1, max: 3 }),
    isMasked: fc.boolean(),
    ping: fc.boolean(),
  });

  test('are unfinished exactly while something is, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 6 }),
        fc.array(fc.integer({ min: 1, max: 5_000 })),
        (pieces, cuts) => {
          const watch = new FrameWatch();
          const all: Buffer[] = [];
          for (const { length, fragments, isMasked, ping } of pieces) {
            for (let index = 0; index < fragments; index++) {
              const opcode = index === 0 ? 1 : 0;
              const isFinal = index === fragments - 1;
              all.push(webSocketFrame(Buffer.alloc(length), { opcode, isFinal, isMasked }));
              if (ping) all.push(webSocketFrame('', { opcode: 9, isMasked }));
            }
          }
          const bytes = Buffer.concat(all);
          let at = 0;
          for (const cut of cuts) {
            watch.see(bytes.subarray(at, at + cut));
            at += cut;
          }
          const isWithin = at < bytes.length && at > 0;
          if (!isWithin) watch.see(bytes.subarray(at));
          else {
            watch.see(bytes.subarray(at, bytes.length - 1));
            expect(watch.isUnfinished || pieces.at(-1)?.ping === true).toBe(true);
            watch.see(bytes.subarray(bytes.length - 1));
          }
          expect(watch.isUnfinished).toBe(false);
          expect(watch.messages).toBe(pieces.length);
        },
      ),
    );
  });
});

describe('a rate', () => {
  test('lets a second of it through at once, and no more', () => {
    const clock = handClock();
    const bucket = new Bucket(clock, 10);
    const taken = Array.from({ length: 12 }, () => bucket.take(1));
    expect(taken.filter(Boolean)).toHaveLength(10);
    clock.at += 500;
    expect([bucket.take(5), bucket.take(1), bucket.isFull]).toEqual([true, false, false]);
    clock.at += 5_000;
    expect([bucket.isFull, bucket.take(11), bucket.take(10)]).toEqual([true, false, true]);
  });
});

describe('a nonce', () => {
  test('is good once, for a while, for whom it was made', () => {
    const clock = handClock();
    const challenges = new Challenges(clock, 100);
    const own = newNonce();
    const nonce = challenges.ask(MALLORY, own);
    expect(challenges.isGood(nonce, MALLORY, own)).toBe(true);
    expect(challenges.isGood(nonce, { ...MALLORY, node: 'n' }, own)).toBe(false);
    expect(challenges.isGood(nonce, MALLORY, newNonce())).toBe(false);
    expect(challenges.isGood(`${nonce.slice(0, -1)}_`, MALLORY, own)).toBe(false);
    expect(new Challenges(clock, 100).isGood(nonce, MALLORY, own)).toBe(false);
    expect(challenges.use(nonce)).toBe(true);
    expect(challenges.isGood(nonce, MALLORY, own)).toBe(false);
    const later = challenges.ask(MALLORY, own);
    clock.at += 100;
    expect(challenges.isGood(later, MALLORY, own)).toBe(false);
  });

  test('that was used is remembered no longer than it would be good, nor more of them than a number', () => {
    const clock = handClock();
    const challenges = new Challenges(clock, 100);
    const used = Array.from({ length: 10_001 }, (_, index) => challenges.use(`${index}`));
    expect(used.indexOf(false)).toBe(10_000);
    clock.at += 100;
    expect(challenges.use('next')).toBe(true);
  });
});

describe('a queue of diallers', () => {
  test('lets this many go on, in order, without those who left', () => {
    const began: string[] = [];
    const queue = new DialQueue(2);
    const leave = ['a', 'b', 'c', 'd', 'e'].map((name) => queue.enter(() => began.push(name)));
    expect(began).toEqual(['a', 'b']);
    leave[2]?.();
    leave[0]?.();
    leave[0]?.();
    expect(began).toEqual(['a', 'b', 'd']);
    leave[1]?.();
    expect(began).toEqual(['a', 'b', 'd', 'e']);
  });
});

test('the guide lists every limit, and no other', () => {
  const [, limits = ''] = readProjectFile('docs/websocket.md').split('\n## Limits\n');
  const rows = limits.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(named.sort()).toEqual(Object.keys(DEFAULT_WEBSOCKET_LIMITS).sort());
});
