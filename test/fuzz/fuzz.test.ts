/**
 * The fuzzer itself: a short run finds nothing, and faults put in on purpose are found.
 *
 * The long runs are `npm run fuzz`; this one shows that they would notice.
 */

import { beforeAll, describe, expect, test } from 'vitest';
import { fuzzAs, hasByzantineFindings } from '../../fuzz/byzantine.ts';
import { type Corpus, recordCorpus } from '../../fuzz/corpus.ts';
import { Dice } from '../../fuzz/dice.ts';
import { harshFrame, tameFrame } from '../../fuzz/mutations.ts';
import { BYZANTINE_ROLES } from '../../fuzz/remit.ts';
import { fuzz, hasFindings } from '../../fuzz/run.ts';
import { STALL_UNITS } from '../../fuzz/stalls.ts';
import { compiledProgram } from '../kit/compiled.ts';

/** The node is started as plain JavaScript. */
const compiled = compiledProgram;
let corpus: Corpus;

beforeAll(async () => {
  corpus = await recordCorpus();
});

describe('the corpus', () => {
  test('has what every role says to every listener', () => {
    const events = (pair: Parameters<Corpus['get']>[0]) =>
      (corpus.get(pair) ?? []).map(({ envelope }) => (envelope.event as { type: string }).type);
    expect(events('client>manager')).toContain('job.submitted');
    expect(events('client>gate')).toContain('jobs.asked');
    expect(events('worker>manager')).toContain('worker.registered');
    expect(events('gate>manager')).toContain('job.submitted');
    expect(events('manager>gate').length).toBeGreaterThan(0);
  });
});

describe('mutations', () => {
  test('of one seed are the same again', () => {
    const samples = corpus.get('client>manager') ?? [];
    const made = (): string[] => {
      const dice = new Dice('seed');
      const numbering = { counter: 0 };
      return Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? tameFrame : harshFrame)(dice, samples, numbering),
      );
    };
    expect(made()).toEqual(made());
  });

  test('that are tame are JSON', () => {
    const samples = corpus.get('worker>manager') ?? [];
    const dice = new Dice('tame');
    for (let count = 0; count < 200; count += 1)
      expect(() => JSON.parse(tameFrame(dice, samples, { counter: 1 }))).not.toThrow();
  });
});

describe('a run', () => {
  test('of a few thousand frames finds nothing, and was refused for many reasons', async () => {
    const found = await fuzz({ frames: 3_000, seed: 'ci', corpus, compiled });
    expect(hasFindings(found), JSON.stringify(found)).toBe(false);
    expect(found.frames).toBeGreaterThanOrEqual(3_000);
    const refused = Object.keys(found.refusals);
    expect(refused).toEqual(expect.arrayContaining(['HTTP 401', 'HTTP 400', 'EVENT_UNDECLARED']));
    expect(Object.keys(found.closedBy).some((code) => Number(code) > 1001)).toBe(true);
  });

  test('finds a node that lets in who does not know the secret', async () => {
    const found = await fuzz({ frames: 1_000, seed: 'ci', plant: 'openDoor', corpus, compiled });
    expect(found.admitted).toBeGreaterThan(0);
    expect(found.changed).toContain('desk/main@A');
  });

  test('finds a frame that blocks the node', async () => {
    const found = await fuzz({
      frames: 330,
      seed: 'ci',
      plant: 'slowFrame',
      stallsMax: 1,
      corpus,
      compiled,
    });
    expect(found.stalls.length, JSON.stringify(found)).toBeGreaterThan(0);
    for (const { units } of found.stalls) expect(Math.min(...units)).toBeGreaterThan(STALL_UNITS);
  });
});

describe('a peer that lies', () => {
  const liar = { as: 'worker', frames: 6_000, seed: 'ci', compiled, endsAtFinding: true } as const;

  test.each(BYZANTINE_ROLES)('as a %s changes nothing that is not its own', async (as) => {
    const found = await fuzzAs({ as, frames: 2_000, seed: 'ci', corpus, compiled });
    expect(hasByzantineFindings(found), JSON.stringify(found)).toBe(false);
    expect(found.frames).toBeGreaterThanOrEqual(2_000);
    expect(found.refusals['SENDER_REFUSED']).toBeGreaterThan(0);
    expect(found.closedBy['1008']).toBeGreaterThan(0);
  });

  test('is found out where what it says of fences is believed', async () => {
    const found = await fuzzAs({ ...liar, plant: 'believedFence', corpus });
    expect(found.stillLeader, JSON.stringify(found)).toBe(false);
  });

  test('is found out where its role is believed', async () => {
    const found = await fuzzAs({ ...liar, plant: 'believedRole', corpus });
    expect(hasByzantineFindings(found), JSON.stringify(found)).toBe(true);
  });
});
