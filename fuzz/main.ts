/**
 * `npm run fuzz`: frames that no node sends, to a node that is the product's.
 *
 * Exit code 0 when nothing was found, 1 when something was, 64 for wrong usage.
 */

import { parseArgs } from 'node:util';
import { type Findings, fuzz, hasFindings } from './run.ts';

const EXIT_FOUND = 1;
const EXIT_USAGE = 64;
const DEFAULT_FRAMES = 100_000;
const USAGE = `Usage: npm run fuzz [-- --frames N] [--seed S] [--json]

Sends N frames (default ${DEFAULT_FRAMES}) that are wrong in many ways to a manager and a gate in a
process of their own, over real sockets: first from strangers, then from peers that have proved who
they are. The same seed sends the same again.
`;

const request = readRequest();
if (request === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = EXIT_USAGE;
} else {
  const { frames, seed, isJson } = request;
  const progress = (line: string): void => {
    if (process.stderr.isTTY) process.stderr.write(`  ${line}\n`);
  };
  const found = await fuzz({ frames, seed, progress });
  process.stdout.write(isJson ? `${JSON.stringify(found, null, 2)}\n` : summaryOf(found));
  process.exitCode = hasFindings(found) ? EXIT_FOUND : 0;
}

function readRequest() {
  try {
    const { values } = parseArgs({
      options: {
        frames: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'boolean' },
      },
    });
    const frames = Number(values.frames ?? DEFAULT_FRAMES);
    if (!Number.isSafeInteger(frames) || frames < 1) return undefined;
    return { frames, seed: values.seed ?? '1', isJson: values.json === true };
  } catch {
    return undefined;
  }
}

function summaryOf(found: Findings): string {
  const { frames, seconds, crashes, admitted, stateChanges, stalls, unanswered } = found;
  const perSecond = Math.round(frames / seconds);
  const many = (counts: Readonly<Record<string, number>>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  return `${frames} frames in ${seconds} s (${perSecond} a second), seed ${found.seed}
crashes ${crashes}, strangers let in ${admitted}, state changes ${stateChanges} ${found.changed.join(' ')}, stalls ${stalls.length} (${found.suspects} suspects), unanswered ${unanswered.length}
refused: ${many(found.refusals)}
closed by: ${many(found.closedBy)}
${[...found.crashed, ...stalls].map((finding) => `${JSON.stringify(finding)}\n`).join('')}`;
}
