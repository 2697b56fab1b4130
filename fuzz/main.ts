/**
 * `npm run fuzz`: frames that no node sends, to a node that is the product's.
 *
 * Exit code 0 when nothing was found, 1 when something was, 64 for wrong usage.
 */

import { parseArgs } from 'node:util';
import { type ByzantineFindings, fuzzAs, hasByzantineFindings } from './byzantine.ts';
import { BYZANTINE_ROLES } from './remit.ts';
import { type Findings, fuzz, hasFindings } from './run.ts';

const EXIT_FOUND = 1;
const EXIT_USAGE = 64;
const DEFAULT_FRAMES = 100_000;
const USAGE = `Usage: npm run fuzz [-- --frames N] [--seed S] [--as ROLE] [--json]

Sends N frames (default ${DEFAULT_FRAMES}) that are wrong in many ways to a manager and a gate in a
process of their own, over real sockets: first from strangers, then from peers that have proved who
they are. The same seed sends the same again.

With --as it is a peer of that role (${BYZANTINE_ROLES.join(', ')}), which
lies in every field that it may fill; what the role must not change is compared with what it was.
`;

const request = readRequest();
if (request === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = EXIT_USAGE;
} else {
  const { frames, seed, isJson, as } = request;
  const progress = (line: string): void => {
    if (process.stderr.isTTY || as !== undefined) process.stderr.write(`  ${line}\n`);
  };
  const show = (found: object, summary: string): void => {
    process.stdout.write(isJson ? `${JSON.stringify(found, null, 2)}\n` : summary);
  };
  if (as === undefined) {
    const found = await fuzz({ frames, seed, progress });
    show(found, summaryOf(found));
    process.exitCode = hasFindings(found) ? EXIT_FOUND : 0;
  } else {
    const found = await fuzzAs({ as, frames, seed, progress });
    show(found, byzantineSummaryOf(found));
    process.exitCode = hasByzantineFindings(found) ? EXIT_FOUND : 0;
  }
}

function readRequest() {
  try {
    const { values } = parseArgs({
      options: {
        frames: { type: 'string' },
        seed: { type: 'string' },
        as: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const frames = Number(values.frames ?? DEFAULT_FRAMES);
    if (!Number.isSafeInteger(frames) || frames < 1) return undefined;
    const as = BYZANTINE_ROLES.find((role) => role === values.as);
    if (values.as !== undefined && as === undefined) return undefined;
    return { frames, seed: values.seed ?? '1', isJson: values.json === true, as };
  } catch {
    return undefined;
  }
}

function many(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function byzantineSummaryOf(found: ByzantineFindings): string {
  const { as, frames, seconds, seed, crashes, strangersLetIn, stateChangesOutsideRemit } = found;
  const { stalls, longestStallMs, stillLeader, verifyClean, outside } = found;
  return `${frames} frames as ${as} in ${seconds} s (${Math.round(frames / seconds)} a second), seed ${seed}
crashes ${crashes}, strangers let in ${strangersLetIn}, state changes outside the remit ${stateChangesOutsideRemit} ${outside.join(' ')}
stalls ${stalls} (longest ${longestStallMs} ms), unanswered ${found.unanswered}, still leader ${stillLeader}, data clean ${verifyClean}
refused: ${many(found.refusals)}
closed by: ${many(found.closedBy)}
${found.crashed.map((crash) => `${JSON.stringify(crash)}\n`).join('')}`;
}

function summaryOf(found: Findings): string {
  const { frames, seconds, crashes, admitted, stateChanges, stalls, unanswered } = found;
  const perSecond = Math.round(frames / seconds);
  return `${frames} frames in ${seconds} s (${perSecond} a second), seed ${found.seed}
crashes ${crashes}, strangers let in ${admitted}, state changes ${stateChanges} ${found.changed.join(' ')}, stalls ${stalls.length} (${found.suspects} suspects), unanswered ${unanswered.length}
refused: ${many(found.refusals)}
closed by: ${many(found.closedBy)}
${[...found.crashed, ...stalls].map((finding) => `${JSON.stringify(finding)}\n`).join('')}`;
}
