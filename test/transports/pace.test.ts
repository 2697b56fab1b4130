/** Pace of frames that leave, against the rate that the other end counts. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Bucket } from '../../runtime/base/token-bucket.ts';
import { SimulatedClock } from '../../simulator/testing.ts';
import { FRAME_CHARGE_MIN, PREFIX_LENGTH } from '../../transports/websocket/frame-text.ts';
import { Pace } from '../../transports/websocket/pace.ts';

const PER_SECOND = 100_000;

function start() {
  const clock = new SimulatedClock();
  const bucket = new Bucket(clock, PER_SECOND);
  const written: string[] = [];
  const floods: string[] = [];
  const pace = new Pace(clock, PER_SECOND, (frame) => {
    written.push(frame);
    const bytes = Math.max(FRAME_CHARGE_MIN, PREFIX_LENGTH + Buffer.byteLength(frame));
    if (!bucket.take(bytes)) floods.push(frame);
  });
  return { clock, pace, written, floods };
}

describe('frames', () => {
  test('leave in order, all of them, and are no flood however many there are', () => {
    const frame = fc
      .tuple(fc.constantFrom('', 'x', 'ä', '€'), fc.integer({ min: 0, max: 5_000 }))
      .map(([letter, length]) => letter.repeat(length));
    const pause = fc.integer({ min: 0, max: 500 });
    fc.assert(
      fc.property(fc.array(fc.tuple(frame, pause), { maxLength: 100 }), (given) => {
        const { clock, pace, written, floods } = start();
        for (const [text, pauseMs] of given) {
          pace.give(text);
          clock.advanceBy(pauseMs);
        }
        clock.advanceBy(60_000);
        expect(written).toEqual(given.map(([text]) => text));
        expect(floods).toEqual([]);
        expect(pace.waitingLength).toBe(0);
      }),
    );
  });

  test('leave at once below the rate, and wait above it', () => {
    const { clock, pace, written } = start();
    for (let count = 0; count < 100; count += 1) {
      pace.give('x'.repeat(500));
      clock.advanceBy(10);
    }
    expect([written.length, pace.waitingLength]).toEqual([100, 0]);
    for (let count = 0; count < 100; count += 1) pace.give('x'.repeat(1_000));
    expect(written.length + pace.waitingLength / 1_000).toBe(200);
    expect(pace.waitingLength).toBeGreaterThan(50_000);
  });

  test('that wait are gone with the connection', () => {
    const { clock, pace, written } = start();
    for (let count = 0; count < 100; count += 1) pace.give('x'.repeat(1_000));
    const left = written.length;
    pace.end();
    clock.advanceBy(60_000);
    expect([written.length, pace.waitingLength]).toEqual([left, 0]);
  });
});
