/**
 * Values of an attempt: what its commands find in their environment, and what their placeholders stand for.
 */

import { existsSync, readFileSync } from 'node:fs';
import type { AgentParams } from '../../machines/mapreduce/map-agent/setup.ts';
import { writeDurably } from '../runs.ts';
import type { ItemPlaces } from './item-places.ts';
import { VALUE_BYTES_MAX, type Values } from './placeholders.ts';
import type { Plan } from './plan.ts';

type Variables = Readonly<Record<string, string>>;

/** Writes the item to the file of its place too, for values that are larger than an argument may be. */
export function ownVariables(
  { runId, folder, items }: Plan,
  { agentId, attempt, role, itemIndex }: AgentParams,
  mark: { readonly name: string; readonly value: string },
  places: ItemPlaces,
): Variables {
  const common = {
    [mark.name]: mark.value,
    ESCAPEMENT_RUN_ID: runId,
    ESCAPEMENT_AGENT_ID: agentId,
    ESCAPEMENT_ATTEMPT: String(attempt),
  };
  if (role === 'reduce') return { ...common, ESCAPEMENT_RESULTS_FILE: folder.resultsPath };
  if (role === 'setup') return common;
  const { itemId, value } = items.at(itemIndex);
  const place = places.of(mark.value);
  const file = folder.itemFile(place);
  places.write(place, file, JSON.stringify(value));
  return { ...common, ESCAPEMENT_ITEM_ID: itemId, ESCAPEMENT_ITEM_FILE: file };
}

/** `results` tells the results of the map; asked once in an attempt, and then read from its file. */
export function valuesOf(
  { folder, items }: Plan,
  { role, itemIndex, index }: AgentParams & { readonly index: number },
  results: () => string,
): Values {
  if (role === 'map') return { item: items.at(itemIndex).value, results: '' };
  if (role === 'setup') return { item: null, results: '' };
  const path = folder.resultsPath;
  const isWritten = index > 0 && existsSync(path);
  const text = isWritten ? readFileSync(path, 'utf8') : results();
  if (!isWritten) writeDurably(path, text);
  return { item: null, results: Buffer.byteLength(text) > VALUE_BYTES_MAX ? `@${path}` : text };
}
