/**
 * Contexts that JSON would change: an actor read from its record would find them otherwise than it left them.
 * Such a machine runs well until the first restart, so it is reported while it does.
 *
 * In production every turn of a young kind is looked at, then one in some, until there is something to
 * report, which is reported once per kind; in tests every turn is looked at, and reported.
 */

import type { Logger } from '../base/limits.ts';
import { Table } from '../base/table.ts';
import type { Tree } from '../statechart.ts';
import { liveMachines, tablesIn } from '../statechart.ts';
import type { Actor } from './actor.ts';
import type { Kind } from './kind.ts';

export interface ContextLossServices {
  readonly logger: Logger;
  /** Looks at every turn, and reports every one. Default false. */
  readonly reportsEveryLoss?: boolean | undefined;
}

/** Something that is not read as it was written. */
export interface JsonLoss {
  /** Path of the value, such as `context.seen`. */
  readonly path: string;
  /** The value, and what is read in its place. */
  readonly what: string;
}

/** Turns of a kind that are all looked at. */
const FIRST_TURNS = 64;
/** Step among the later turns: one in this many is looked at. */
const TURN_STEP = 16;
/** Losses of one context that are named. */
const NAMED_MAX = 5;

export class ContextLosses {
  readonly #services: ContextLossServices;
  readonly #turns = new WeakMap<Kind, number>();

  constructor(services: ContextLossServices) {
    this.#services = services;
  }

  /** Looks at the contexts of an actor that has just taken a turn. */
  look(actor: Actor): void {
    const { kind, address } = actor;
    const { logger, reportsEveryLoss = false } = this.#services;
    const turn = this.#turns.get(kind) ?? 0;
    if (turn === Number.POSITIVE_INFINITY) return;
    this.#turns.set(kind, turn + 1);
    const isDue = turn < FIRST_TURNS || turn % TURN_STEP === 0;
    if (!isDue && !reportsEveryLoss) return;
    const losses = [...lossesOf(actor.tree as Tree), ...rowLosses(actor)].slice(0, NAMED_MAX);
    if (losses.length === 0) return;
    if (!reportsEveryLoss) this.#turns.set(kind, Number.POSITIVE_INFINITY);
    const named = losses.map(({ path, what }) => `${path} is ${what}`).join('; ');
    logger.warn(
      { kind: kind.name, address, code: CONTEXT_LOSSY, losses },
      `The context of kind "${kind.name}" is not kept as it is: ${named}. After a restart the machine finds that. Keep JSON in contexts.`,
    );
  }
}

export const CONTEXT_LOSSY = 'CONTEXT_LOSSY';

function lossesOf({ snapshot }: Tree): JsonLoss[] {
  const losses: JsonLoss[] = [];
  // The root's last context is kept, too, and is no live machine any more.
  const [, ...children] = liveMachines(snapshot);
  for (const { path, snapshot: each } of [{ path: '', snapshot }, ...children]) {
    if (isKept(each.context, [])) continue;
    const name = path === '' ? 'context' : `context of child ${path}`;
    collectLosses(each.context, name, losses, new Set());
  }
  return losses;
}

/** Losses in the rows that the turn has changed: a look at all rows would cost as much as all of them. */
function rowLosses({ tree, tables }: Actor): JsonLoss[] {
  const losses: JsonLoss[] = [];
  for (const [name, table] of tablesIn((tree as Tree).snapshot.context))
    for (const [key, row] of Table.changes(tables.get(name), table))
      if (table.has(key) && !isKept(row, []))
        collectLosses(row, `context.${name}[${JSON.stringify(key)}]`, losses, new Set());
  return losses;
}

/**
 * True if JSON changes nothing in a value. Nearly all are kept, and to name each field on the way takes
 * longest.
 */
function isKept(value: unknown, above: object[]): boolean {
  if (typeof value !== 'object' || value === null) return lossOf(value) === undefined;
  if (value instanceof Table || isOwnRef(value) || above.includes(value)) return true;
  if (objectLossOf(value) !== undefined) return false;
  const isList = Array.isArray(value);
  const names = Object.keys(value);
  if (isList && value.length > names.length) return false;
  above.push(value);
  for (const name of names) {
    const part = (value as Readonly<Record<string, unknown>>)[name];
    if ((part !== undefined || isList) && !isKept(part, above)) return false;
  }
  above.pop();
  return true;
}

/** Adds what JSON would change in a value, up to a number; references within the actor's own tree are kept. */
function collectLosses(value: unknown, path: string, losses: JsonLoss[], above: Set<object>): void {
  if (losses.length >= NAMED_MAX) return;
  const what = lossOf(value);
  if (what !== undefined) {
    losses.push({ path, what });
    return;
  }
  if (typeof value !== 'object' || value === null || isOwnRef(value) || above.has(value)) return;
  above.add(value);
  const isList = Array.isArray(value);
  for (const [key, part] of Object.entries(value)) {
    // A field that is undefined is read as a field that is not there, which is the same to a machine.
    if (part === undefined && !isList) continue;
    collectLosses(part, isList ? `${path}[${key}]` : `${path}.${key}`, losses, above);
  }
  if (isList && value.length > Object.keys(value).length && losses.length < NAMED_MAX)
    losses.push({ path, what: 'an array with holes, which are read as null' });
  above.delete(value);
}

function lossOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'undefined':
      return 'undefined, which is read as null';
    case 'function':
      return 'a function, of which nothing is read';
    case 'symbol':
      return 'a symbol, of which nothing is read';
    case 'number':
      return Number.isFinite(value) ? undefined : `${value}, which is read as null`;
    case 'object':
      return value === null || value instanceof Table || isOwnRef(value)
        ? undefined
        : objectLossOf(value);
    default:
      return undefined;
  }
}

function objectLossOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype) {
    return typeof (value as { toJSON?: unknown }).toJSON === 'function'
      ? 'an object with toJSON, which is read as what that gives'
      : undefined;
  }
  if (Array.isArray(value)) return undefined;
  const name = (prototype as { constructor?: { name?: string } }).constructor?.name || 'a class';
  if ('sessionId' in value && 'address' in value)
    return 'a reference to another actor, which is read as text: keep its address';
  if (name === 'Date') return 'a Date, which is read as text';
  if (value instanceof Map || value instanceof Set) return `a ${name}, which is read as {}`;
  return `an object of ${name}, which is read as plain data`;
}

/** A reference to an actor of the same tree, which is found again. */
function isOwnRef(value: object): boolean {
  if (!('sessionId' in value) || !('toJSON' in value)) return false;
  const stored = (value as { toJSON(): unknown }).toJSON();
  return typeof (stored as { session?: unknown } | undefined)?.session === 'number';
}
