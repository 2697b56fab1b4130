/**
 * Time of the page: the server's, whatever the browser's own clock says.
 *
 * The browser's monotonic clock says how much has passed; each frame says where the server is. Of the last
 * frames the fastest counts, so that a slow one moves nothing.
 */

import { signal } from '@preact/signals';

/** Offsets that are looked at: those of the last minute or so, and of a clock that was set, soon only the new ones. */
const OFFSETS_MAX = 12;
/** Tenths of seconds are shown: what is on the screen may be this old. */
const TICK_MS = 150;

const offsets: number[] = [];
let offset: number | undefined;
let isStopped = false;

/** The server's time at the last tick, in ms since the epoch; 0 before the first frame. */
export const now = signal(0);

/** The server's time at this moment. */
function serverNow(): number {
  return offset === undefined ? 0 : performance.now() + offset;
}

/** What is at rest has one moment, its last: no deadline in it comes closer. */
export function stopAt(at: number): void {
  isStopped = true;
  now.value = at;
}

/** Takes note of the server's time in something that has just arrived. */
export function hearTime(at: number): void {
  if (isStopped) return;
  offsets.push(at - performance.now());
  if (offsets.length > OFFSETS_MAX) offsets.shift();
  const before = offset;
  offset = Math.max(...offsets);
  if (before === undefined) now.value = serverNow();
}

/** One tick for everything that counts; none while nobody sees the page. */
export function startTicking(): void {
  setInterval(() => {
    if (!document.hidden && !isStopped && offset !== undefined) now.value = serverNow();
  }, TICK_MS);
}
