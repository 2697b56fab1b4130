/** What a node says at a terminal: short lines, which no data can turn into anything else. */

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openLog } from '../../cli/node/log.ts';
import type { NodeConfiguration } from '../../cli/node/resolve.ts';

function logTo(written: string[], isTTY: boolean, format: 'auto' | 'text' = 'text') {
  const configuration = { node: 'A.manager-1', log: { level: 'info', format } };
  const terminal = Object.assign(new PassThrough(), { isTTY });
  terminal.on('data', (text) => written.push(String(text)));
  return openLog(configuration as NodeConfiguration, terminal);
}

test('a line has the time, the level, what happened and its fields', () => {
  const written: string[] = [];
  const { logger } = logTo(written, false);
  logger.info({ event: 'job.accepted', jobId: 'one', reason: null }, 'accepted');
  logger.debug({}, 'not said');
  expect(written).toEqual([
    expect.stringMatching(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}accepted node=A\.manager-1 event=job\.accepted jobId=one\n$/,
    ),
  ]);
});

test('what a line is called by is not told twice, and neither is the time', () => {
  const written: string[] = [];
  const { logger } = logTo(written, false);
  logger.info({ event: 'job.accepted', at: 1_795_053_222_815, jobId: 'one' }, 'job.accepted');
  expect(written[0]).toMatch(/ info {2}job\.accepted node=A\.manager-1 jobId=one\n$/);
});

test('what comes from data cannot speak to the terminal', () => {
  const written: string[] = [];
  logTo(written, true, 'auto').logger.warn({ jobId: 'a\u001b[2Jb c' }, 'odd\u0007');
  expect(written[0]).toContain('odd\\u0007');
  expect(written[0]).toContain('jobId="a\\u001b[2Jb c"');
  expect(written[0]).not.toContain('\u001b[2J');
});

test('its level can be changed while it is used', () => {
  const written: string[] = [];
  const log = logTo(written, false);
  log.setLevel('error');
  log.logger.warn({}, 'not said');
  log.setLevel('debug');
  log.logger.debug({}, 'said');
  expect(written).toHaveLength(1);
});
