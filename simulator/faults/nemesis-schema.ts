/** The shape of a nemesis as it lies in the file of a plan. */

import { z } from 'zod';

const NAME_LENGTH_MAX = 300;
const TARGETS_MAX = 200;
/** No run is longer: ninety days. */
const MS_MAX = 90 * 86_400_000;

const name = z.string().min(1).max(NAME_LENGTH_MAX);
const names = z.array(name).max(TARGETS_MAX);
const atMs = z.number().min(0).max(MS_MAX);
const durationMs = z.number().min(0).max(MS_MAX);

/** The shorter one first. */
export const rangeMs = z
  .tuple([durationMs, durationMs])
  .refine(([minMs, maxMs]) => minMs <= maxMs, 'the first is at most the second');

export const nemesisSchema = z.strictObject({
  id: name,
  kind: name,
  atMs,
  durMs: durationMs,
  targets: names,
  params: z.record(name, z.union([z.number(), z.string().max(NAME_LENGTH_MAX), z.boolean()])),
});
