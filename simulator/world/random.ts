/**
 * Chance that repeats: the same seed and stream name give the same numbers and ids, everywhere.
 *
 * Guarantees: a stream depends on its seed and its full name and on nothing else, so drawing more
 * from one moves no other. That is why everything that needs chance takes a stream of its own: a
 * new draw in one place then leaves the rest of a run as it was. It keeps no secrets: not for
 * tokens.
 *
 * The generator is sfc32 (128 bits of state, passes PractRand), its state three murmur hashes
 * of seed and name, its first outputs thrown away. Whole-number arithmetic only, so every engine agrees.
 */

import type { Random } from '../../runtime/ports/random.ts';

const ID_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const ID_LENGTH = 21;
/** One draw of 32 bits gives five characters of six bits. */
const CHARACTERS_PER_DRAW = 5;
const WARM_UP_DRAWS = 15;

export class SeededRandom implements Random {
  readonly seed: number;
  readonly name: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @throws {RangeError} when `seed` is not a safe integer: others do not survive being printed. */
  constructor(seed: number, name = '') {
    if (!Number.isSafeInteger(seed)) throw new RangeError(`A seed is a whole number, got ${seed}.`);
    this.seed = seed;
    this.name = name;
    const text = `${seed}:${name}`;
    // Three hashes with different starts: names that agree in one of them still differ in state.
    this.#a = hashText(text, 0x9e3779b9);
    this.#b = hashText(text, 0x85ebca6b);
    this.#c = hashText(text, 0xc2b2ae35);
    for (let draw = 0; draw < WARM_UP_DRAWS; draw++) this.#draw();
  }

  next(): number {
    // 53 bits, all that fit into a number below 1.
    return ((this.#draw() >>> 5) * 2 ** 26 + (this.#draw() >>> 6)) / 2 ** 53;
  }

  id(): string {
    let id = '';
    while (id.length < ID_LENGTH) {
      let bits = this.#draw();
      for (let i = 0; i < CHARACTERS_PER_DRAW && id.length < ID_LENGTH; i++) {
        id += ID_ALPHABET.charAt(bits & 63);
        bits >>>= 6;
      }
    }
    return id;
  }

  /** The stream called `name` below this one, from its beginning at each call. */
  stream(name: string): SeededRandom {
    return new SeededRandom(this.seed, `${this.name}/${name}`);
  }

  /** The next 32 bits, unsigned. */
  #draw(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

/** Murmur3's mixing over the text's code units. */
function hashText(text: string, start: number): number {
  let hash = start ^ text.length;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 3_432_918_353);
    hash = (hash << 13) | (hash >>> 19);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 2_246_822_507);
  hash = Math.imul(hash ^ (hash >>> 13), 3_266_489_909);
  return hash ^ (hash >>> 16);
}
