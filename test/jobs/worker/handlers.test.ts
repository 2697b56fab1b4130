import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { cutText, failed, succeeded } from '../../../programs/jobs/worker/outcome.ts';
import { shellHandler } from '../../../programs/jobs/worker/shell.ts';
import { sleepHandler } from '../../../programs/jobs/worker/sleep.ts';
import type { HandlerContext } from '../../../programs/jobs/worker.ts';
import { SILENT_LOGGER } from '../../../runtime/base/limits.ts';
import { systemClock } from '../../../runtime/system/clock.ts';
import { readProjectFile } from '../../project-files.ts';
import { datacenter } from './datacenter.ts';

const MAX = 64 * 1024;

function context(payload: string, signal = new AbortController().signal) {
  const progress: unknown[] = [];
  const given: HandlerContext = {
    jobId: 'j1',
    workflowId: 'w1',
    run: 1,
    payload,
    signal,
    log: SILENT_LOGGER,
    progress: (reported) => void progress.push(reported),
    extend: () => Promise.reject(new Error('nobody to ask')),
  };
  return { given, progress };
}

describe('results', () => {
  test.each([
    ['a text', 'done', 'done'],
    ['an object', { a: [1] }, '{"a":[1]}'],
    ['null', null, 'null'],
    ['nothing', undefined, null],
  ])('%s', (_, value, result) => {
    expect(succeeded(value)).toMatchObject({ ok: true, result, truncated: false });
  });

  test.each([
    ['a circle', circle()],
    ['a bigint', 1n],
    ['a function', () => 1],
  ])('that JSON has no words for fail for good: %s', (_, value) => {
    expect(succeeded(value)).toMatchObject({
      ok: false,
      error: { code: 'resultInvalid' },
      retryable: false,
    });
  });

  test('are cut at 64 KiB, at a whole character', () => {
    expect(cutText('a'.repeat(MAX))).toEqual({ text: 'a'.repeat(MAX), isCut: false });
    expect(cutText('a'.repeat(MAX + 1))).toEqual({ text: 'a'.repeat(MAX), isCut: true });
    // Three bytes each: 21,845 fit, one byte is left over.
    expect(cutText('€'.repeat(30_000))).toEqual({ text: '€'.repeat(21_845), isCut: true });
    expect(cutText(`a${'😀'.repeat(20_000)}`).text).toBe(`a${'😀'.repeat(16_383)}`);
  });

  test('are a beginning of what was returned, whatever it was', () => {
    const unit = fc.constantFrom('a', 'é', '€', '😀', '\u0000');
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 9 }), fc.nat(20), (pattern, shift) => {
        const text = `${'x'.repeat(shift)}${pattern.join('').repeat(15_000)}`;
        const cut = cutText(text);
        const isLong = Buffer.byteLength(text) > MAX;
        expect(cut.isCut).toBe(isLong);
        expect(text.startsWith(cut.text)).toBe(true);
        expect(cut.text).not.toContain('\ufffd');
        const size = Buffer.byteLength(cut.text);
        expect(size <= MAX && (!isLong || size > MAX - 4)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  test('of anything that can be thrown are failures', () => {
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        const { ok, error } = failed(thrown);
        expect(ok).toBe(false);
        expect(error?.code.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('sleep', () => {
  test('waits, and tells how far it is', async () => {
    const dc = await datacenter();
    await dc.dispatch('w1', { handler: 'sleep', payload: '{"ms":3000,"progressEveryMs":1000}' });
    await dc.rt.advance(2_999);
    expect(dc.of('result.received')).toEqual([]);
    await dc.rt.advance(1);
    expect(dc.of('result.received')[0]?.event).toMatchObject({ ok: true, result: 'slept 3000 ms' });
    expect(dc.of('progress.received').map(({ event }) => event['progress'])).toEqual([
      1 / 3,
      2 / 3,
      1,
    ]);
  });

  test('heeds its signal at once', async () => {
    const dc = await datacenter();
    await dc.dispatch('w1', { handler: 'sleep', payload: '100000' });
    await dc.cancel('w1');
    expect(dc.of('attempt.stopped').map(({ event }) => event['killed'])).toEqual([false]);
  });

  test.each(['', 'soon', '-1', '1.5', '{}', '{"ms":1,"progressEveryMs":0}'])(
    'fails for good when its payload is %j',
    async (payload) => {
      await expect(sleepHandler(systemClock())(context(payload).given)).rejects.toMatchObject({
        code: 'payloadInvalid',
        retryable: false,
      });
    },
  );
});

describe('shell', () => {
  const folders: string[] = [];
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'escapement-shell-'));
    folders.push(made);
    return made;
  };
  afterEach(() => {
    for (const made of folders.splice(0)) rmSync(made, { recursive: true, force: true });
  });
  const run = (payload: string | object, signal?: AbortSignal, graceMs = 10_000) =>
    shellHandler(
      systemClock(),
      graceMs,
    )(context(typeof payload === 'string' ? payload : JSON.stringify(payload), signal).given);

  test('is not there unless it is allowed', async () => {
    const dc = await datacenter();
    await dc.dispatch('w1', { handler: 'shell', payload: 'true' });
    expect(dc.of('dispatch.answered')[0]?.event['reason']).toBe('unknownHandler');
    const allowing = await datacenter({ allowShell: true });
    await allowing.dispatch('w1', { handler: 'shell', payload: 'sleep 1' });
    await allowing.rt.advance(10);
    expect(allowing.of('dispatch.answered')[0]?.event['accepted']).toBe(true);
  });

  test('gives what a command prints', async () => {
    expect(await run('echo one; echo two')).toBe('one\ntwo\n');
    const cwd = folder();
    expect(await run({ command: 'pwd', args: ['-P'], cwd })).toContain(cwd);
    // No shell sees the arguments of the second form.
    expect(await run({ command: 'echo', args: ['$HOME; false'] })).toBe('$HOME; false\n');
  });

  test('gives a command a clean environment, and what is named besides', async () => {
    const given = {
      ESCAPEMENT_SECRET: 's',
      AWS_SECRET_ACCESS_KEY: 'k',
      NODE_OPTIONS: '',
      REGION: 'eu',
    };
    const names = async (variables?: readonly string[]): Promise<string[]> => {
      const command = { payload: JSON.stringify({ command: 'env' }) };
      const shell = shellHandler(systemClock(), 10_000, variables);
      const lines = String(await shell(context(command.payload).given))
        .trim()
        .split('\n');
      return lines.map((line) => line.slice(0, line.indexOf('=')));
    };
    const before = { ...process.env };
    try {
      Object.assign(process.env, given, { LANG: 'C', TZ: 'UTC', LC_TIME: 'C' });
      const own = await names();
      expect(own).toEqual(expect.arrayContaining(['PATH', 'LANG', 'TZ', 'LC_TIME']));
      const page = readProjectFile('docs/jobs.md');
      for (const name of own)
        expect(page, name).toContain(name.startsWith('LC_') ? 'LC_…' : `\`${name}\``);
      expect(own.filter((name) => Object.hasOwn(given, name))).toEqual([]);
      expect((await names(['REGION', 'NOT_THERE'])).sort()).toEqual([...own, 'REGION'].sort());
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
      Object.assign(process.env, before);
    }
    for (const wrong of ['ESCAPEMENT_SECRET', 'a=b', '', 'a b', 7])
      await expect(
        datacenter({ allowShell: true, shellVariables: [wrong as string] }),
      ).rejects.toMatchObject({ code: 'OPTION_INVALID' });
  });

  test('is cut like every result', async () => {
    const output = (await run('yes | head -c 1000000')) as string;
    expect(Buffer.byteLength(output)).toBe(MAX + 4);
    expect(succeeded(output)).toMatchObject({ ok: true, truncated: true });
  });

  test('fails with its exit code and the end of what it complained about', async () => {
    await expect(run('echo nonsense >&2; exit 3')).rejects.toMatchObject({
      code: 'exit',
      message: 'exit code 3: nonsense',
    });
    await expect(run('kill -9 $$')).rejects.toMatchObject({ message: 'signal SIGKILL' });
    await expect(run({ command: '/no/such/program' })).rejects.toMatchObject({ code: 'spawn' });
  });

  test.each(['{', '{}', '{"command":1}', '{"command":"ls","args":"-l"}'])(
    'fails for good when its payload is %s',
    async (payload) => {
      await expect(run(payload)).rejects.toMatchObject({
        code: 'payloadInvalid',
        retryable: false,
      });
    },
  );

  test('stops with everything it began when its run is to stop', async () => {
    const abort = new AbortController();
    const file = join(folder(), 'pids');
    const running = run(`sleep 300 & echo $! > ${file}; echo $$ >> ${file}; wait`, abort.signal);
    const pids = await untilThere(file);
    abort.abort(new Error('stop'));
    await expect(running).rejects.toThrow('stop');
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  test('is killed after the grace when it does not stop', async () => {
    const abort = new AbortController();
    const file = join(folder(), 'pids');
    const script = `trap '' TERM; echo $$ > ${file}; echo $$ >> ${file}; while :; do sleep 0.05; done`;
    const running = run(script, abort.signal, 200);
    const pids = await untilThere(file);
    abort.abort(new Error('stop'));
    await expect(running).rejects.toThrow('stop');
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  });

  test('is over with its command, no matter who holds the output open', async () => {
    expect(await run('setsid sleep 3 & echo done')).toBe('done\n');
  });
});

function circle(): unknown[] {
  const round: unknown[] = [];
  round.push(round);
  return round;
}

/** The two process ids that a script has written. */
async function untilThere(file: string): Promise<number[]> {
  let pids: number[] = [];
  await expect
    .poll(() => {
      try {
        pids = readFileSync(file, 'utf8').trim().split('\n').map(Number);
      } catch {
        // Not written yet.
      }
      return pids.length;
    })
    .toBe(2);
  return pids;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie nobody waited for is dead.
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}
