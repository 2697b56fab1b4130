/**
 * Now and then one fault more, of a kind without which some invariant would hardly ever have anything to
 * say: most of them set up what they need themselves, and are drawn too seldom among all the others.
 */

import type { Nemesis, NemesisKind } from '../../faults.ts';
import type { Chance } from '../../world.ts';
import type { JobsScene } from '../scene.ts';
import type { JobsShape } from '../shape.ts';

const PROBABILITY = 0.24;
/** With the invariants that each is for. */
const AIMED: ReadonlyArray<readonly [kind: string, weight: number]> = [
  // FB-1, FB-3.
  ['gateAwayAfterReport', 3],
  // FB-4.
  ['partedDeclaration', 3],
  // FE-5, FE-4.
  ['takeoverAtDeclaration', 3],
  // GA-9.
  ['silentAfterStall', 3],
  // GA-10, GA-12.
  ['wordBehindHistory', 7],
  // EX-5.
  ['starvedHeartbeats', 3],
  // EX-10.
  ['silentAtWork', 3],
  // BY-1.
  ['byzantinePeer', 2],
  // MS-7.
  ['splitGroup', 2],
  // GA-7.
  ['forgetfulGate', 1],
  // MS-12.
  ['fullDisk', 2],
];

/** `id` names it in its plan. Undefined in most runs. */
export function drawAimed(
  chance: Chance,
  id: string,
  cluster: JobsShape,
  allowed: readonly NemesisKind<JobsScene>[],
  healAtMs: number,
): Nemesis | undefined {
  const isDrawn = chance.is(PROBABILITY);
  const name = chance.weighted(AIMED);
  const atMs = chance.whole(0, Math.max(0, Math.floor(healAtMs / 2)));
  const kind = allowed.find((one) => one.kind === name && (one.fits?.(cluster) ?? true));
  if (!isDrawn || kind === undefined) return undefined;
  return {
    id,
    kind: name,
    atMs,
    durMs: Math.max(1, healAtMs - atMs),
    ...kind.draw(chance, cluster),
  };
}
