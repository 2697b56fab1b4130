/**
 * Target of a request: its path in parts, and its query.
 *
 * Guarantees: a path has one spelling only. What could be read as another path by somebody else
 * (two slashes, dots, encoded slashes, NUL) is refused and never interpreted.
 */

import { HttpRefusal, invalid } from './refusal.ts';

export interface Target {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** Encoded: NUL and other control characters, dot, slash, backslash. */
const AMBIGUOUS = /%(?:0[0-9a-f]|1[0-9a-f]|2e|2f|5c|7f)/i;
/** As it may be written: no blanks, no fragment, no backslash, nothing outside of ASCII. */
const PLAIN = /^\/[!$&'()*+,\-./0-9:;=@A-Z_a-z~%]*$/;
const PARAMETERS_MAX = 32;

/** `prefix` is where the API is mounted. @throws {HttpRefusal} invalid, urlTooLong */
export function readTarget(url: string, prefix: string, urlBytesMax: number): Target {
  if (Buffer.byteLength(url) > urlBytesMax)
    throw new HttpRefusal('urlTooLong', `A target takes at most ${urlBytesMax} bytes.`);
  const mark = url.indexOf('?');
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  if (!PLAIN.test(path) || AMBIGUOUS.test(path) || path.includes('//'))
    throw invalid('The path is not written as a path.', 'path');
  // What is elsewhere has no route.
  const own = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : '/';
  const segments = own.split('/').slice(1).map(decode);
  if (segments.some((segment) => segment === '.' || segment === '..'))
    throw invalid('The path is not written as a path.', 'path');
  if ([...query.keys()].length > PARAMETERS_MAX)
    throw invalid(`A query has at most ${PARAMETERS_MAX} parameters.`, 'query');
  return { segments, query };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid('The path is not written as a path.', 'path');
  }
}

/** @throws {HttpRefusal} invalid */
export function oncePerName(query: URLSearchParams): Readonly<Record<string, string>> {
  const once: Record<string, string> = {};
  for (const [name, value] of query) {
    if (Object.hasOwn(once, name)) throw invalid('It is there twice.', name.slice(0, 64));
    if (name === '__proto__') throw invalid('There is no such field.', name);
    once[name] = value;
  }
  return once;
}
