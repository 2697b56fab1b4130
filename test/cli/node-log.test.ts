/** Log of a node at a terminal: short lines, which no data can turn into anything else. */

import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { type NodeLog, openLog } from '../../cli/node/log.ts';
import { LogLines } from '../../cli/node/log-lines.ts';
import type { NodeConfiguration } from '../../cli/node/resolve.ts';

/** A pipe with a name, of which this process holds both ends and reads when it likes. */
class Pipe {
  readonly #folder = mkdtempSync(join(tmpdir(), 'escapement-log-'));
  readonly fd: number;
  #text = '';

  constructor() {
    const path = join(this.#folder, 'log');
    execFileSync('mkfifo', [path]);
    this.fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  }

  /** All lines so far, once the last of them satisfies. */
  async lines(isLast: (line: string) => boolean): Promise<readonly string[]> {
    const buffer = Buffer.alloc(64 * 1024);
    for (;;) {
      try {
        this.#text += buffer.toString('utf8', 0, readSync(this.fd, buffer));
      } catch (thrown) {
        if ((thrown as NodeJS.ErrnoException).code !== 'EAGAIN') throw thrown;
        const lines = this.#text.split('\n').slice(0, -1);
        if (isLast(lines.at(-1) ?? '')) return lines;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  close(): void {
    closeSync(this.fd);
    rmSync(this.#folder, { recursive: true });
  }
}

/** What `act` makes a node log, line by line. */
async function logged(
  { isTTY = false, format = 'text' }: { isTTY?: boolean; format?: 'auto' | 'text' },
  act: (log: NodeLog) => void,
): Promise<readonly string[]> {
  const pipe = new Pipe();
  const configuration = { node: 'A.manager-1', log: { level: 'info', format } };
  const terminal = Object.assign(new PassThrough(), { isTTY, fd: pipe.fd });
  const log = openLog(configuration as NodeConfiguration, terminal);
  act(log);
  log.setLevel('info');
  log.logger.info({}, 'the end');
  const lines = await pipe.lines((line) => line.includes('the end'));
  await log.written();
  pipe.close();
  return lines.slice(0, -1);
}

test('a line has the time, the level, what happened and its fields', async () => {
  const written = await logged({}, ({ logger }) => {
    logger.info({ event: 'job.accepted', jobId: 'one', reason: null }, 'accepted');
    logger.debug({}, 'not said');
  });
  expect(written).toEqual([
    expect.stringMatching(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}accepted node=A\.manager-1 event=job\.accepted jobId=one$/,
    ),
  ]);
});

test('what a line is called by is not told twice, and neither is the time', async () => {
  const written = await logged({}, ({ logger }) =>
    logger.info({ event: 'job.accepted', at: 1_795_053_222_815, jobId: 'one' }, 'job.accepted'),
  );
  expect(written[0]).toMatch(/ info {2}job\.accepted node=A\.manager-1 jobId=one$/);
});

test('what comes from data cannot speak to the terminal', async () => {
  const written = await logged({ isTTY: true, format: 'auto' }, ({ logger }) =>
    logger.warn({ jobId: 'a\u001b[2Jb c' }, 'odd\u0007'),
  );
  expect(written[0]).toContain('odd\\u0007');
  expect(written[0]).toContain('jobId="a\\u001b[2Jb c"');
  expect(written[0]).not.toContain('\u001b[2J');
});

test('its level can be changed while it is used', async () => {
  const written = await logged({}, (log) => {
    log.setLevel('error');
    log.logger.warn({}, 'not said');
    log.setLevel('debug');
    log.logger.debug({}, 'said');
  });
  expect(written).toHaveLength(1);
});

test('short lines that nobody reads do not hold the node up, and are counted', async () => {
  const pipe = new Pipe();
  const configuration = { node: 'A.manager-1', log: { level: 'info', format: 'text' } };
  const terminal = Object.assign(new PassThrough(), { isTTY: false, fd: pipe.fd });
  const log = openLog(configuration as NodeConfiguration, terminal);
  const text = 'x'.repeat(10_000);
  for (let line = 0; line < 1_000; line += 1) log.logger.info({ text }, 'flood');
  log.logger.info({ event: 'node.stopped' }, 'node.stopped');
  expect(log.lost).toBeGreaterThan(100);
  const lines = await pipe.lines((line) => line.includes('node.stopped'));
  expect(lines.length + log.lost).toBe(1_001);
  await log.written();
  pipe.close();
});

test('a flood that nobody reads costs lines, and none that says how the node itself is', async () => {
  const pipe = new Pipe();
  const log = new LogLines({ fd: pipe.fd, bufferBytesMax: 20_000, reserveBytesMax: 20_000 });
  const logger = pino({ base: null }, log);
  const flood = (): void => {
    // More than the pipe and the buffer take together.
    for (let line = 0; line < 3_000; line += 1)
      logger.warn(
        { event: 'timeout.detected', text: 'x'.repeat(50), '"event":"node.': 1 },
        'flood',
      );
  };
  const LIFECYCLE = [
    'node.hosting',
    'leader.lost',
    'configuration.refused',
    'node.draining',
    'node.stopped',
  ];
  for (const event of LIFECYCLE) {
    flood();
    logger.info({ event, node: 'A.manager-1' }, event);
  }
  expect(log.lost).toBeGreaterThan(1_000);
  const lines = await pipe.lines((line) => line.includes('node.stopped'));
  const said = lines
    .map((line) => JSON.parse(line).event)
    .filter((event) => event !== 'timeout.detected');
  expect(said).toEqual(LIFECYCLE);
  expect(lines.length + log.lost).toBe(LIFECYCLE.length * 3_001);
  await log.written();
  pipe.close();
});

test('a line of JSON cannot speak to a terminal either, and says the same', async () => {
  const pipe = new Pipe();
  const log = new LogLines({ fd: pipe.fd });
  const text = 'a\u001b]0;b\u0007\u009b2J\u202ec\u007f\nd "e" \\';
  pino({ base: null }, log).info({ text, [text]: 1 }, text);
  const [line = ''] = await pipe.lines((one) => one !== '');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(JSON.parse(line)).toMatchObject({ text, msg: text, [text]: 1 });
  await log.written();
  pipe.close();
});
