/**
 * Ways in which a data file can be damaged, drawn from a seed: flipped bytes, bursts, files that
 * were cut off, pages that are zeroed, swapped, or still as they were at an earlier commit.
 */

import type { Random } from '../../runtime/ports/random.ts';

export interface Damage {
  readonly name: string;
  /** Bytes to write, by position, in base64. */
  readonly edits: ReadonlyArray<readonly [at: number, bytes: string]>;
  /** The file ends here. */
  readonly cutAt?: number;
}

const PAGE_BYTES = 4_096;
const BURST_BYTES_MAX = 600;

/** Draws one; `older` is the file at an earlier commit. */
export function drawDamage(file: Buffer, older: Buffer, random: Random): Damage {
  const below = (end: number): number => Math.floor(random.next() * end);
  const pages = Math.floor(file.length / PAGE_BYTES);
  const kind = below(20);
  if (kind < 9) {
    const at = below(file.length);
    const bit = 1 << below(8);
    return edited(`bit ${bit} of byte ${at}`, [at, Buffer.from([(file[at] as number) ^ bit])]);
  }
  if (kind < 11) {
    const at = below(file.length);
    const mask = 1 + below(255);
    return edited(`byte ${at} by ${mask}`, [at, Buffer.from([(file[at] as number) ^ mask])]);
  }
  if (kind < 14) {
    const at = below(file.length);
    const length = Math.min(2 + below(BURST_BYTES_MAX), file.length - at);
    const bytes = Buffer.from(Array.from({ length }, () => below(256)));
    return edited(`${length} bytes from ${at}`, [at, bytes]);
  }
  if (kind === 14) {
    const page = below(pages);
    return { name: `cut before page ${page}`, edits: [], cutAt: page * PAGE_BYTES };
  }
  if (kind === 15) {
    const cutAt = below(file.length);
    return { name: `cut at ${cutAt}`, edits: [], cutAt };
  }
  const page = below(pages);
  const at = page * PAGE_BYTES;
  if (kind === 16) return edited(`page ${page} zeroed`, [at, Buffer.alloc(PAGE_BYTES)]);
  if (kind === 17) {
    const other = below(pages);
    return edited(
      `pages ${page} and ${other} swapped`,
      [at, pageOf(file, other)],
      [other * PAGE_BYTES, pageOf(file, page)],
    );
  }
  if (at >= older.length)
    return edited(`page ${page} never written`, [at, Buffer.alloc(PAGE_BYTES)]);
  return edited(`page ${page} as it was earlier`, [at, pageOf(older, page)]);
}

/** A copy of the file, damaged. */
export function damagedCopy(file: Buffer, { edits, cutAt }: Damage): Buffer {
  const copy = Buffer.from(file);
  for (const [at, bytes] of edits) copy.set(Buffer.from(bytes, 'base64'), at);
  return cutAt === undefined ? copy : copy.subarray(0, cutAt);
}

function edited(name: string, ...edits: ReadonlyArray<readonly [number, Buffer]>): Damage {
  return { name, edits: edits.map(([at, bytes]) => [at, bytes.toString('base64')] as const) };
}

function pageOf(file: Buffer, page: number): Buffer {
  return file.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES);
}
