/**
 * Addresses: `kind/key@place`, for example `order/42@shop-1` or `item/42/pen@shop-1`.
 *
 * A kind is the name a machine is registered under, a key is unique within its kind and may have
 * several segments, a place is where actors live. Without `@place` an address means the place of
 * the actor or the code that uses it. Code inside the runtime holds whole addresses only; they are
 * parsed once, where they enter.
 */

import { excerpt, RuntimeError } from './errors.ts';

const KIND = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const ADDRESS =
  /^[A-Za-z][A-Za-z0-9_-]{0,63}(?:\/[A-Za-z0-9._:~-]{1,128}){1,8}(?:@[A-Za-z0-9._:~-]{1,128})?$/;
/** `~` is for clients: before it stands whose token they have shown. */
const PLACE = /^[A-Za-z0-9._:~-]{1,128}$/;

/** The whole address. @throws {RuntimeError} ADDRESS_MALFORMED */
export function wholeAddress(address: string, ownPlace: string): string {
  if (typeof address !== 'string' || !ADDRESS.test(address)) {
    throw new RuntimeError(
      'ADDRESS_MALFORMED',
      `${excerpt(address)} is not an address; expected kind/key or kind/key@place, such as "order/42@shop-1".`,
    );
  }
  return address.includes('@') ? address : `${address}@${ownPlace}`;
}

/** True for `kind/key@place`: what code inside the runtime holds. */
export function isWholeAddress(text: string): boolean {
  return text.includes('@') && ADDRESS.test(text);
}

/** @throws {RuntimeError} OPTION_INVALID when the name cannot be part of an address. */
export function checkName(what: 'kind' | 'node' | 'place', name: string): void {
  if (typeof name === 'string' && (what === 'kind' ? KIND : PLACE).test(name)) return;
  throw new RuntimeError(
    'OPTION_INVALID',
    `${excerpt(name)} cannot name a ${what}: use letters, digits, "-", "_", "." or ":" (places also "~"; kinds start with a letter, and have neither "." nor ":").`,
  );
}

/** Kind in a whole address. */
export function kindOf(address: string): string {
  return address.slice(0, address.indexOf('/'));
}

let lastAddress = '';
let lastPlace = '';

/** Place in a whole address. */
export function placeOf(address: string): string {
  // Asked several times of each message, and of the next one of the same sender.
  if (address === lastAddress) return lastPlace;
  lastPlace = address.slice(address.lastIndexOf('@') + 1);
  lastAddress = address;
  return lastPlace;
}
