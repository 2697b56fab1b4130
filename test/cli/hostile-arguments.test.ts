/**
 * Arguments that make no sense, typed by people and programs, and ends of output that are not there.
 */

import { PassThrough, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '../../cli/program.ts';
import { Output } from '../../cli/render/output.ts';
import { type Served, serve } from '../http/served.ts';
import { escapement } from './command-line.ts';

const TWO_TO_64 = '18446744073709551616';

describe('H17: wrong usage exits 64, with the usage on standard error and nothing done', () => {
  test.each([
    ['job'],
    ['jobs', 'more'],
    ['jobs', '--frobnicate'],
    ['jobs', '--status'],
    ['jobs', '--status', 'lost'],
    ['jobs', '--status', 'failed', '--state', 'failed'],
    ['jobs', '--stuck-for', '30'],
    ['jobs', '--stuck-for', '-1s'],
    ['jobs', '--deadline-before', '5 parsecs'],
    ['jobs', '--deadline-before', '1e308'],
    ['jobs', '--limit', '0'],
    ['jobs', '--limit', '501'],
    ['jobs', '--limit', TWO_TO_64],
    ['submit'],
    ['submit', '--workflow', 'one=echo'],
    ['submit', '--workflow', 'one', '--timeout', '1m'],
    ['submit', '--workflow', '=echo', '--timeout', '1m'],
    ['submit', '--workflow', 'one=', '--timeout', '1m'],
    ['submit', '--workflow', 'a b=echo', '--timeout', '1m'],
    ['submit', '--workflow', 'one=a', '--workflow', 'one=b', '--timeout', '1m'],
    ['submit', '--workflow', 'one=echo', '--timeout', '0s'],
    ['submit', '--workflow', 'one=echo', '--timeout', '1m', '--id', '../../x'],
    ['submit', '--workflow', 'one=echo', '--timeout', '1m', '--id', 'x'.repeat(129)],
    ['submit', '--workflow', 'one=echo', '--timeout', '1m', '--datacenters', 'A,,B'],
    ['show'],
    ['show', '\u0000'],
    ['show', 'a b'],
    ['show', 'a/b/'],
    ['send', 'a', 'b'],
    ['actors', '--status', 'x'],
    ['spawn', 'a/b', '--input', '{'],
    ['show', 'one', 'two'],
    ['cancel', ''],
    ['extend', 'j1'],
    ['extend', 'j1', '--by', 'NaN'],
    ['extend', 'j1', '--by', '0m'],
    ['history', 'j1', '--limit', 'all'],
    ['timers', '--before', '-1h'],
    ['undelivered'],
    ['undelivered', 'delete', 'x'],
    ['undelivered', 'drop'],
    ['workers', '--token', 'secret'],
    ['completion'],
    ['start'],
    ['start', 'king'],
    ['start', 'manager', 'gate'],
    ['config', 'check', 'king'],
    ['completion', 'tcsh'],
    ['simulate', '--seed', 'abc'],
    ['simulate', '--seed', '-1'],
    ['simulate', '--seed', TWO_TO_64],
  ])('%j', async (...args) => {
    const { code, out, err } = await escapement(args);
    expect([code, out]).toEqual([64, '']);
    expect(err).toMatch(/^(error: |Usage: )/);
    expect(err).toMatch(/^usage: escapement/im);
    expect(err).not.toContain('\u0000');
  });
});

test.each([
  ['--seeds', '1e9'],
  ['--seeds', '1000000000'],
  ['--seeds', '0'],
  ['--seeds', '5', '--from', '-1'],
  ['--seeds', '5', '--from', '9007199254740991'],
  ['--seeds', '5', '--until', '1e308'],
  ['--seeds', '5', '--until', '5 parsecs'],
  ['--seeds', '5', '--until', '25h'],
  ['--seed', '5', '--seeds', '5'],
  ['--seeds', '5', '--processes', '100000'],
])('H18: simulate %s %s is refused before anything runs', async (...args) => {
  const { code, out, err } = await escapement(['simulate', ...args]);
  expect([code, out]).toEqual([64, '']);
  expect(err).toMatch(/^error: /);
});

describe('H22: output that goes nowhere', () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve();
  });
  afterAll(() => served.stop());

  const failing = (code: string) =>
    new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
    });
  const args = ['submit', '--timeout', '1m', '--workflow', 'one=echo', '--watch'];

  test.each([['jobs', '--all'], ['workers'], ['timers', '--all'], args])(
    'is quiet when nobody reads any more: %s',
    async (...asked) => {
      const err = new PassThrough();
      const env = { ESCAPEMENT_URL: served.atGate.url };
      expect(await run(asked, new Output(failing('EPIPE'), err), { env })).toBe(0);
      expect(err.read()).toBeNull();
    },
  );

  test('is an I/O error where the disk is full', async () => {
    const err = new PassThrough();
    const env = { ESCAPEMENT_URL: served.atGate.url };
    expect(await run(args, new Output(failing('ENOSPC'), err), { env })).toBe(74);
    expect(String(err.read())).toContain('the result could not be written: ENOSPC');
  });
});
