/**
 * Ids of jobs and of requests that a command makes up.
 *
 * They begin with a letter and have no signs, so that they can be typed as an argument.
 */

import { customAlphabet } from 'nanoid';

const letter = customAlphabet('abcdefghjkmnpqrstvwxyz', 1);
const rest = customAlphabet('0123456789abcdefghjkmnpqrstvwxyz', 15);

export function newId(): string {
  return letter() + rest();
}
