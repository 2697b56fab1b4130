/**
 * Input that a machine can be spawned with, learned from what it reads of the one it is given.
 *
 * A field that is read and is not there stays so as long as nobody minds; one that is read further becomes an
 * object, one that is walked over a list. In the end each field that is left gets a value that its name suggests.
 */

import type { Reads } from './reads.ts';
import { Subject } from './subject.ts';

/** Fields that may have to become something before a machine begins. */
const ROUNDS_MAX = 60;
const LIST_KEYS =
  /^(length|map|filter|forEach|some|every|find|findIndex|slice|join|reduce|includes|entries|keys|values|at|flatMap|concat|indexOf|toSorted|sort)$/;

/** Undefined where the machine reads nothing of its input. */
export function learnedInput(reads: Reads): unknown {
  const subject = new Subject(reads.machine);
  const input: Tree = {};
  for (let round = 0; round < ROUNDS_MAX; round++) {
    reads.inputPaths.length = 0;
    // What a machine is spawned with is frozen.
    subject.begin(structuredClone(input));
    const missing = reads.inputPaths.filter(({ isMissing }) => isMissing).map(({ path }) => path);
    const minded = missing.at(-1);
    const needed = subject.thrown === undefined ? undefined : neededBy(subject.thrown);
    if (minded === undefined || needed === undefined) break;
    put(input, minded, needed());
  }
  for (const { path, isMissing } of [...reads.inputPaths])
    if (isMissing) put(input, path, usualInput(path.split('.').at(-1) as string));
  return Object.keys(input).length === 0 ? undefined : input;
}

type Tree = Record<string, unknown>;

/** What would have had to be there; undefined where the error tells nothing of that. */
function neededBy(thrown: unknown): (() => unknown) | undefined {
  const text = textsOf(thrown);
  const [, key] =
    /Cannot read properties of (?:undefined|null) \(reading '([^']+)'\)/.exec(text) ?? [];
  if (key !== undefined) return LIST_KEYS.test(key) ? () => ['a'] : () => ({});
  if (/is not iterable|is not a function/.test(text)) return () => ['a'];
  return /Cannot convert undefined or null to object|must be an object/.test(text)
    ? () => ({})
    : undefined;
}

function textsOf(thrown: unknown): string {
  const texts: string[] = [];
  for (let one = thrown; one instanceof Error && texts.length < 5; one = one.cause)
    texts.push(one.message);
  return texts.join('\n');
}

function put(input: Tree, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() as string;
  let at = input;
  for (const key of keys) at = at[key] as Tree;
  at[last] = value;
}

const usualInput = (field: string): unknown => (/Ms$/.test(field) ? 1_000 : usualValue(field));

/** A value that a field of this name would have. */
export function usualValue(field: string): unknown {
  if (/(id|name|key|reason|text|message|by|to|from|url|address|type|kind)$/i.test(field))
    return 'a';
  if (/^(is|has|can|should|was)[A-Z]/.test(field)) return true;
  if (/(items|list|ids|names|values)$/i.test(field)) return ['a'];
  return 1;
}
