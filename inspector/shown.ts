/**
 * Values as they are shown: secrets replaced, large parts cut with their size told. Pure; it never throws on
 * hostile values.
 *
 * A key that looks like a secret has its value replaced whatever it is, at any depth. Afterwards the hook of the
 * options may replace more.
 */

import type { Shown } from './protocol.ts';

export interface ShowRules {
  /** Bytes of one value as JSON; larger ones are cut. */
  readonly bytesMax: number;
  /** Called for every key with a value that is no object; what it returns is shown instead. */
  readonly redact?: ((path: string, value: unknown) => unknown) | undefined;
}

export const REDACTED = '[redacted]';

/** Words of which one makes a key a secret's; `tokens: 12` counts too, for nobody can tell. */
const SECRET =
  /secret|token|passw(?:or)?d|passphrase|authorization|cookie|credential|api[-_]?key|private[-_]?key/i;
const DEPTH_MAX = 16;
const KEYS_MAX = 500;
const PATHS_MAX = 50;

export function show(value: unknown, rules: ShowRules): Shown {
  const walk = new Walk(rules);
  let bytes = 0;
  try {
    bytes = (JSON.stringify(value) ?? '').length;
  } catch {
    return { value: '… (no JSON)', bytes: 0, isCut: true, redacted: [] };
  }
  const shown = walk.copy(value, '', 0);
  return { value: shown, bytes, isCut: walk.isCut, redacted: walk.redacted };
}

/** The same without its report: for text that is written to a file. */
export function redacted(value: unknown, redact?: ShowRules['redact']): unknown {
  return show(value, { bytesMax: Number.POSITIVE_INFINITY, redact }).value;
}

function isSecretKey(key: string): boolean {
  return SECRET.test(key);
}

class Walk {
  isCut = false;
  readonly redacted: string[] = [];
  readonly #rules: ShowRules;
  #bytesLeft: number;

  constructor(rules: ShowRules) {
    this.#rules = rules;
    this.#bytesLeft = rules.bytesMax;
  }

  copy(given: unknown, path: string, depth: number): unknown {
    const value = plainOf(given);
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) {
      this.#bytesLeft -= 8;
      return value === undefined ? null : value;
    }
    if (depth >= DEPTH_MAX || this.#bytesLeft <= 0) return this.#cut(value);
    if (Array.isArray(value)) {
      const items: unknown[] = [];
      for (const item of value) {
        if (this.#bytesLeft <= 0 || items.length >= KEYS_MAX) {
          items.push(this.#more(value.length - items.length));
          break;
        }
        items.push(this.#member(item, `${path}/${items.length}`, '', depth));
      }
      return items;
    }
    return this.#object(value, path, depth);
  }

  #object(value: object, path: string, depth: number): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    const keys = Object.keys(value);
    let taken = 0;
    for (const key of keys) {
      if (this.#bytesLeft <= 0 || taken >= KEYS_MAX) {
        copy['…'] = this.#more(keys.length - taken);
        break;
      }
      taken += 1;
      this.#bytesLeft -= key.length + 4;
      const inner = (value as Record<string, unknown>)[key];
      if (inner === undefined || typeof inner === 'function') continue;
      const shown = this.#member(inner, `${path}/${key}`, key, depth);
      // A key such as __proto__ is data here.
      Object.defineProperty(copy, key, {
        value: shown,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return copy;
  }

  #member(value: unknown, path: string, key: string, depth: number): unknown {
    if (key !== '' && isSecretKey(key) && value !== null && value !== '') return this.#hide(path);
    const { redact } = this.#rules;
    if (redact !== undefined && (typeof value !== 'object' || value === null)) {
      const replaced = redact(path, value);
      if (replaced !== value) {
        if (this.redacted.length < PATHS_MAX) this.redacted.push(path);
        return this.copy(replaced, path, DEPTH_MAX);
      }
    }
    return this.copy(value, path, depth + 1);
  }

  #hide(path: string): string {
    if (this.redacted.length < PATHS_MAX) this.redacted.push(path);
    this.#bytesLeft -= REDACTED.length;
    return REDACTED;
  }

  #text(value: string): string {
    const room = Math.max(0, this.#bytesLeft);
    this.#bytesLeft -= value.length + 2;
    if (value.length <= room) return value;
    this.isCut = true;
    return `${value.slice(0, Math.min(room, 200))}… (${value.length.toLocaleString('en')} characters)`;
  }

  #cut(value: object): string {
    this.isCut = true;
    return `… (${(JSON.stringify(value) ?? '').length.toLocaleString('en')} bytes)`;
  }

  #more(count: number): string {
    this.isCut = true;
    return `… ${count.toLocaleString('en')} more`;
  }
}

/** References to actors and dates as JSON has them. */
function plainOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'bigint' || typeof value === 'symbol' ? String(value) : value;
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON !== 'function') return value;
  try {
    return (toJSON as () => unknown).call(value);
  } catch {
    return '… (no JSON)';
  }
}
