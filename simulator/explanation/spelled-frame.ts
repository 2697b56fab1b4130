/**
 * A frame as if every message and every receipt in it had an entry of its own: for looking for one of
 * them in the text. What is no frame, because it was damaged, stays as it is.
 */

import { decodeFrame, encodeFrame } from '../../runtime/delivery.ts';

const SHARED = '"counters":[';

/** The same frame is looked at again and again. */
const spelled = new Map<string, string>();
const SPELLED_MAX = 10_000;

export function spelledFrame(frame: string): string {
  if (!frame.includes(SHARED)) return frame;
  const known = spelled.get(frame);
  if (known !== undefined) return known;
  const text = spell(frame);
  if (spelled.size >= SPELLED_MAX) spelled.clear();
  spelled.set(frame, text);
  return text;
}

function spell(frame: string): string {
  try {
    const { envelopes, receipts } = decodeFrame(frame);
    const texts = (entries: readonly unknown[]): string[] =>
      entries.map((entry) => JSON.stringify(entry));
    return encodeFrame(texts(envelopes), texts(receipts));
  } catch {
    return frame;
  }
}
