/**
 * Item hashes: identities of items, by what they are and what is run for them.
 *
 * Two items of one hash get the same commands with the same values, wherever they stand in an input and whatever
 * else is in the file. So a run of a changed file can leave out what an earlier one has done.
 */

import { createHash } from 'node:crypto';
import type { Host } from './host.ts';
import { type Input, ItemFile } from './items.ts';
import type { Prepared } from './run.ts';
import type { Step } from './workflow.ts';

const HASH_DIGITS = 32;

/** Hashes of items under one template. Limits are no part of it: they change no command. */
export function itemHasher(template: readonly Step[]): (value: unknown) => string {
  const commands = JSON.stringify(template.map(({ kind, texts, env }) => [kind, texts, env]));
  return (value) =>
    createHash('sha256')
      .update(commands)
      .update('\0')
      .update(JSON.stringify(value))
      .digest('hex')
      .slice(0, HASH_DIGITS);
}

/** Items of the file as it is now that the run has not done: those that are new or changed, and those that failed. */
export function changedInput(
  host: Host,
  runId: string,
  { workflow }: Prepared,
  input: Input,
): Input {
  const done = doneHashes(host, runId);
  const hashOf = itemHasher(workflow.map.template);
  const left = [...input.items()].filter(({ value }) => !done.has(hashOf(value)));
  return { count: left.length, items: () => left };
}

function doneHashes(host: Host, runId: string): ReadonlySet<string> {
  const hashOf = itemHasher(host.plan(runId).workflow.map.template);
  const file = new ItemFile(host.folder(runId).itemsPath);
  const done = new Set<string>();
  for (const [index, { state }] of host.stored.items(runId))
    if (state === 'done') done.add(hashOf(file.at(index).value));
  file.close();
  return done;
}
