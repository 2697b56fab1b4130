/**
 * Nothing is acknowledged before it is synced: a hundred commits under strace.
 *
 * A killed process proves nothing of this, because the page cache survives it.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommitterOptions } from './committer.ts';
import { newFolder } from './folders.ts';
import { checkTrace, type TraceVerdict } from './trace.ts';
import { runCommitter, TRACED_CALLS, whyNotTraced } from './traced.ts';

const COMMITS = 100;
/** So long that anybody who does not wait for a sync is ahead of it, on the fastest disk too. */
const SLOW_SYNC = 'inject=fdatasync:delay_enter=10000';
const reason = whyNotTraced();

async function traced(options: CommitterOptions): Promise<TraceVerdict> {
  const folder = newFolder('sync');
  const trace = join(folder, 'trace');
  const result = await runCommitter({
    directory: join(folder, 'deep', 'data'),
    commits: COMMITS,
    options,
    strace: ['-y', '-s', '64', '-e', `trace=${TRACED_CALLS}`, '-e', SLOW_SYNC, '-o', trace],
  });
  expect(result).toMatchObject({ exitCode: 0, acknowledged: COMMITS, refused: [] });
  const question = { file: '/data.mdb', acknowledgement: 'ack ', entries: folder };
  return checkTrace(readFileSync(trace, 'utf8'), question);
}

describe.skipIf(reason !== undefined)(`a trace of ${COMMITS} commits${because()}`, () => {
  test('has every write synced before the acknowledgement that shows it', async () => {
    const { faults, acknowledgements, writes, syncs } = await traced({});
    expect(faults).toEqual([]);
    expect(acknowledgements).toBe(COMMITS);
    expect(syncs).toBeGreaterThanOrEqual(COMMITS);
    expect(writes).toBeGreaterThanOrEqual(2 * COMMITS);
  });

  test('gives a store away that acknowledges before it hands over', async () => {
    const { faults } = await traced({ plant: 'early' });
    expect(faults.length).toBeGreaterThan(COMMITS / 2);
  });

  test('gives a store away that does not wait for a sync', async () => {
    const { faults } = await traced({ plant: 'unsynced' });
    expect(faults.length).toBeGreaterThan(COMMITS / 2);
  });
});

function because(): string {
  return reason === undefined ? '' : ` (skipped: ${reason})`;
}
