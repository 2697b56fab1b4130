/**
 * `npm run own-scores -- [machine …] [--sample N] [--workers N] [--limit MS]`: how many mutants of the project's own
 * machines its own tests find. What `escapement test --suite` does, with the samples of the machines as they stand here.
 *
 * Tests that the tool makes do not count. Prints a row of the table in docs/model-tests.md for each machine, and on
 * standard error how far it is, and each mutant that lives, with the shortest test that would kill it.
 */

import { stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { TeamSuite } from '../../../cli/machine-tests/team-suite.ts';
import { samplesFor } from '../../../testing/model/samples.ts';
import { wordsOf } from '../../../testing/model/step.ts';
import { scoreOf } from '../../../testing/mutants/mutation-score.ts';
import { mutantsOf } from '../../../testing/mutants/operators.ts';
import { OWN_MACHINES } from './own-machines.ts';

const JOBS = 'test/jobs/machines/';
const MAP_REDUCE = 'test/mapreduce/machines/scenarios test/mapreduce/machines/invariants';
const AGENTS = 'test/agents/machines/edges test/agents/machines/invariants';

/** Test files by machine, as vitest takes them: parts of their paths. */
const SUITES: Readonly<Record<string, string>> = {
  reminder: 'test/machines/reminder',
  'submission-part': `${JOBS}submission-part`,
  'failed-item': 'test/mapreduce/machines/failed-item',
  'jobs-service': 'test/jobs/gate/',
  attempt: `${JOBS}attempt`,
  'worker-pool': `${JOBS}worker-pool`,
  leadership: `${JOBS}leadership`,
  worker: `${JOBS}worker.test ${JOBS}worker-manager ${JOBS}worker-orders ${JOBS}neighbours`,
  'worker-health': `${JOBS}worker-health ${JOBS}neighbours`,
  workflow: `${JOBS}workflow`,
  'gate-job': `${JOBS}gate ${JOBS}global-outcome`,
  datacenter: `${JOBS}datacenter ${JOBS}gate`,
  job: `${JOBS}job`,
  delegation: AGENTS,
  task: AGENTS,
  orchestration: AGENTS,
  agent: AGENTS,
  run: MAP_REDUCE,
  'map-agent': MAP_REDUCE,
};

const tell = (line: string): void => void stderr.write(`${line}\n`);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    workers: { type: 'string', default: '1' },
    limit: { type: 'string' },
  },
});

const limitMs = values.limit === undefined ? undefined : Number(values.limit);
const sample = values.sample === undefined ? undefined : Number(values.sample);
for (const name of positionals.length > 0 ? positionals : Object.keys(SUITES)) {
  const own = OWN_MACHINES[name];
  const suite = SUITES[name];
  if (own === undefined || suite === undefined) throw new Error(`There is no machine ${name}.`);
  const team = new TeamSuite(`node_modules/.bin/vitest run ${suite}`, own.machine, limitMs);
  try {
    await team.begin();
    const { killed, killable, survivors, equivalent, untried } = await scoreOf(
      own.machine,
      samplesFor(own.machine, own.samples),
      [],
      {
        kills: (mutant) => team.kills(mutant),
        onMutant: (looked, all) => tell(`${name}: ${looked} of ${all}`),
        atOnce: Number(values.workers),
        ...(sample !== undefined && { mutantsMax: sample }),
      },
    );
    for (const { mutant, test } of survivors)
      tell(`lives  ${name}: ${mutant}\n    ${test.steps.map(wordsOf).join('\n    ')}`);
    for (const mutant of team.late) tell(`killed by the limit of time  ${name}: ${mutant}`);
    for (const mutant of equivalent) tell(`equal  ${name}: ${mutant}`);
    for (const mutant of untried) tell(`not made by its tests  ${name}: ${mutant}`);
    const all = mutantsOf(own.machine).length;
    const tried = Math.min(all, sample ?? all);
    const percent = killable === 0 ? 100 : Math.floor((killed * 1_000) / killable) / 10;
    stdout.write(`| ${name} | ${tried} of ${all} | ${killed} of ${killable} | ${percent} |\n`);
  } catch (thrown) {
    tell(`${name}: ${thrown instanceof Error ? thrown.message : thrown}`);
  } finally {
    team.end();
  }
}
