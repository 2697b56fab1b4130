/**
 * Loopback addresses: those that cannot be reached from another machine. Names other than `localhost` are
 * not taken for one.
 */

import { isIPv4 } from 'node:net';

export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare === '::1') return true;
  const inner = bare.startsWith('::ffff:') ? bare.slice('::ffff:'.length) : bare;
  return isIPv4(inner) && inner.startsWith('127.');
}
