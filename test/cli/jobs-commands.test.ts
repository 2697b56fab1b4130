/** The commands about jobs, against a gate and a datacenter behind real HTTP servers. */

import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import type { Manager } from '../../programs/jobs/index.ts';
import { type Served, serve, TOKENS, until } from '../http/served.ts';
import { escapement } from './command-line.ts';

const ESC = '\u001b';

let served: Served;
beforeAll(async () => {
  served = await serve({ tokens: TOKENS });
});
afterAll(() => served.stop());

const tokenOf = (name: string) => TOKENS.find((one) => one.name === name)?.token as string;
const as = (name: string, url: string, input?: PassThrough) => ({
  env: { ESCAPEMENT_URL: url, ESCAPEMENT_TOKEN: tokenOf(name) },
  input,
});
const atGate = (...args: string[]) => escapement(args, as('olga', served.atGate.url));
const atManager = (...args: string[]) => escapement(args, as('olga', served.atManager.url));
const submit = (id: string, ...args: string[]) =>
  atGate('submit', '--id', id, '--timeout', '10m', ...args);
const waiting = (id: string) => submit(id, '--workflow', 'one=wait');
const isRunning = (id: string) =>
  until(async () => {
    const { workflows, datacenters } = JSON.parse((await atGate('show', id, '--json')).out);
    const states = [workflows[0]?.status, datacenters?.[0]?.status];
    return states.every((state) => state === 'running') ? true : undefined;
  });

describe('submit', () => {
  test('hands over a job, once', async () => {
    const first = await submit('once', '--workflow', 'one=echo:hello');
    expect(first).toEqual({
      code: 0,
      out: 'job once accepted\nSee "escapement show once".\n',
      err: '',
    });
    const again = await submit('once', '--workflow', 'one=echo:hello');
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('was there already')]);
    const other = await submit('once', '--workflow', 'one=echo:bye');
    expect([other.code, other.out]).toEqual([65, '']);
    expect(other.err).toContain('There is another job "once" already.');
  });

  test('makes up an id that can be typed', async () => {
    const args = ['submit', '--timeout', '1m', '--workflow', 'one=echo', '--json'];
    const { code, out } = await atGate(...args);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      jobId: expect.stringMatching(/^[a-z][0-9a-z]{15}$/),
      accepted: true,
      created: true,
    });
  });

  test('with --watch exits by the outcome of the job', async () => {
    const args = ['--workflow', 'one=echo:a:b=c', '--workflow', 'two=echo', '--watch'];
    const good = await submit('watched', ...args);
    expect([good.code, good.err]).toEqual([0, '']);
    expect(good.out).toMatch(/^job watched accepted\n/);
    expect(good.out).toMatch(/ {2}completed {2}2 of 2 workflows\n/);
    expect(good.out).toMatch(
      /job watched: completed\n[\s\S]*one +completed +1 +A.worker-1 +a:b=c\n/,
    );
    const late = await atGate(
      ...['submit', '--id', 'late', '--timeout', '300ms', '--workflow', 'one=wait', '--watch'],
    );
    expect(late.code).toBe(1);
    expect(late.out).toContain('job late: timedOut (overall)\n');
    const quiet = await submit('quiet', '--workflow', 'one=echo', '--watch', '--json');
    expect(JSON.parse(quiet.out)).toMatchObject({
      submission: { jobId: 'quiet', accepted: true },
      job: { jobId: 'quiet', status: 'completed', workflows: [{ workflowId: 'one' }] },
    });
  });

  test('takes a job from standard input, and flags over the file', async () => {
    const input = new PassThrough();
    input.end('timeout: 10m\nworkflows:\n  - { id: one, handler: echo, payload: { n: 1 } }\n');
    const args = ['submit', '--file', '-', '--id', 'typed', '--datacenters', 'A', '--watch'];
    const { code, out } = await escapement(args, as('olga', served.atGate.url, input));
    expect(code).toBe(0);
    expect(out).toMatch(/one +completed +1 +A.worker-1 +\{"n":1\}\n/);
  });

  test('tells what a node finds wrong with it', async () => {
    const { code, err } = await submit('wrong', '--workflow', 'one=echo', '--datacenters', 'Z');
    expect([code, err]).toEqual([65, expect.stringMatching(/^error: .*Z/)]);
  });
});

describe('jobs, show, extend and cancel', () => {
  test('show a job with what its deadline is made of', async () => {
    await waiting('shown');
    await isRunning('shown');
    const more = await atGate('extend', 'shown', '--by', '5m');
    expect([more.code, more.out]).toEqual([
      0,
      'job shown has 5m more; added in all: 5m\n  A  added in all: 5m\n',
    ]);
    const { code, out } = await atGate('show', 'shown');
    expect(code).toBe(0);
    expect(out).toMatch(/^job shown: running\n {2}done {7}0 of 1 workflow\n/);
    expect(out).toMatch(/ {2}deadline {3}10m budget \+ 5m added - .* elapsed = due in 1[45]m/);
    expect(out).toMatch(/DATACENTER +STATUS +NO PROGRESS FOR +ADDED +FENCE.*\n {2}A +running/);
    expect(out).toMatch(/WORKFLOW +STATUS +RUNS +WORKER\n {2}one +running +1 +A.worker-1\n/);
    expect((await atManager('show', 'shown')).out).toContain('led by     A.manager-1, fence 1');
  });

  test('add time once for a request, and in one datacenter alone', async () => {
    await waiting('asked');
    await isRunning('asked');
    const ask = ['extend', 'asked', '--by', '1m', '--request-id', 'r1', '--datacenter', 'A'];
    for (let time = 0; time < 2; time += 1) {
      const { out } = await atGate(...ask, '--json');
      expect(JSON.parse(out)).toMatchObject({ accepted: true, extensionsMs: 60_000 });
    }
  });

  test('list jobs by what is asked, and all of them page by page', async () => {
    for (const id of ['list.1', 'list.2', 'list.3']) await waiting(id);
    for (const id of ['list.1', 'list.2', 'list.3']) await isRunning(id);
    const running = await atGate('jobs', '--status', 'running');
    expect(running.code).toBe(0);
    expect(running.out).toMatch(/^JOB +STATUS +DONE +DUE +NO PROGRESS FOR +IN/);
    expect(running.out).toMatch(/^list\.2 +running +0\/1 +in (10m|9m \d+s) +\S+ +A/m);
    const page = JSON.parse((await atGate('jobs', '--limit', '2', '--json')).out);
    expect(page.jobs).toHaveLength(2);
    expect(page.cursor).toEqual(expect.any(String));
    const next = JSON.parse((await atGate('jobs', '--cursor', page.cursor, '--json')).out);
    const ids = (list: typeof page) => list.jobs.map(({ jobId }: { jobId: string }) => jobId);
    expect(ids(page)).toEqual(['list.3', 'list.2']);
    expect(ids(next)[0]).toBe('list.1');
    const all = JSON.parse((await atGate('jobs', '--limit', '1', '--all', '--json')).out);
    expect(all.jobs.length).toBeGreaterThan(3);
    expect(all.cursor).toBeNull();
    expect((await atGate('jobs', '--limit', '1')).out).toContain('--all shows all.');
    const idsOf = async (...args: string[]) =>
      JSON.parse((await atGate('jobs', ...args, '--json')).out).jobs.map(
        ({ jobId }: { jobId: string }) => jobId,
      );
    expect(await idsOf('--state', 'cancelled', '--limit', '1')).toEqual([]);
    expect(await idsOf('--deadline-before', '1m')).not.toContain('list.1');
    expect(await idsOf('--deadline-before', '11m')).toContain('list.1');
    expect(await idsOf('--stuck-for', '1h')).toEqual([]);
    expect((await atGate('jobs', '--stuck-for', '1h')).out).toBe('There are no such jobs.\n');
  });

  test('cancel a job, twice without harm, and none that has ended otherwise', async () => {
    await waiting('unwanted');
    expect(await atGate('cancel', 'unwanted')).toMatchObject({
      code: 0,
      out: 'job unwanted is cancelled\n',
    });
    expect((await atGate('cancel', 'unwanted')).code).toBe(0);
    await submit('over', '--workflow', 'one=echo', '--watch');
    for (const args of [
      ['cancel', 'over'],
      ['extend', 'over', '--by', '1m'],
    ]) {
      const { code, out, err } = await atGate(...args);
      expect([code, out]).toEqual([1, '']);
      expect(err).toBe('error: The job has ended. (409 alreadyFinal)\n');
    }
    expect((await atGate('show', 'unwanted', '--watch')).code).toBe(1);
  });

  test.each(['show', 'cancel', 'history'])('%s exits 1 for a job that is not', async (command) => {
    const { code, out, err } = await atGate(command, 'nosuch');
    expect([code, out]).toEqual([1, '']);
    expect(err).toBe('error: There is no such job. (404 notFound)\n');
  });
});

describe('workers, history, timers and undelivered', () => {
  test('list the workers', async () => {
    const { code, out } = await atGate('workers');
    expect(code).toBe(0);
    expect(out).toMatch(/^WORKER +DATACENTER +STATE +CORES FREE/);
    expect(out).toMatch(/^A\.worker-1 +A +healthy +\d+\/64/m);
    expect(JSON.parse((await atManager('workers', '--json')).out)).toMatchObject({
      workers: [{ workerId: 'A.worker-1', state: 'healthy', cores: 64 }],
      unanswered: [],
    });
  });

  test('tell what happened to a job', async () => {
    await submit('past', '--workflow', 'one=echo', '--watch');
    const { code, out } = await atGate('history', 'past');
    expect(code).toBe(0);
    expect(out).toMatch(/^gate-job\/past@gate\nTURN +AT +EVENT +STATE +DID\n +1 +2\d{3}-/);
    expect(out).toContain('overallLimit armed');
    const { history } = JSON.parse((await atManager('history', 'past', '--json')).out);
    expect(history[0]).toMatchObject({ turn: 1 });
    const few = JSON.parse((await atManager('history', 'past', '--limit', '2', '--json')).out);
    expect(few.history.at(-1)).toEqual(history.at(-1));
    expect(few.history).toHaveLength(2);
  });

  test('list what is due', async () => {
    await waiting('timed');
    await isRunning('timed');
    const { code, out } = await atManager('timers', '--kind', 'job', '--all');
    expect(code).toBe(0);
    expect(out).toMatch(/^DUE +AT +ACTOR +STATE\n/);
    expect(out).toMatch(/^in \S+.* job\/timed@A /m);
    expect((await atManager('timers', '--kind', 'nothing')).out).toBe('Nothing is due.\n');
  });

  test('look at messages that nobody could take, try them again and drop them', async () => {
    expect((await atManager('undelivered', 'list')).out).toBe('Everything was delivered.\n');
    for (const command of ['show', 'retry', 'drop'])
      expect(await atManager('undelivered', command, 'no-such-one')).toEqual({
        code: 1,
        out: '',
        err: 'error: There is no such message. (404 notFound)\n',
      });
    const trap = await setTrap(served.manager);
    const list = async () =>
      JSON.parse((await atManager('undelivered', 'list', '--json')).out).undelivered;
    const [one, two] = await until(async () => ((await list()).length === 2 ? list() : undefined));
    const { out } = await atManager('undelivered', 'list', '--limit', '1');
    expect(out).toMatch(/^ID +WHEN +EVENT +TO +WHY\n/);
    expect(out).toMatch(/trap\.sprung +trap\/1@A +[A-Z_]+\n1 message shown; --all shows all\./);
    const shown = await atManager('undelivered', 'show', one.id);
    // H23: what an event says does nothing to a terminal.
    expect(shown.out).toContain('"why":"\\u001b[31mone"');
    expect((await atManager('undelivered', 'retry', one.id)).code).toBe(1);
    trap.open();
    // It failed again, and stands there under a new id.
    const again = (await list()).find(({ id }: { id: string }) => id !== two.id);
    expect(await atManager('undelivered', 'retry', again.id)).toMatchObject({
      code: 0,
      out: `${again.id} was delivered\n`,
    });
    expect((await atManager('undelivered', 'drop', two.id)).out).toBe(`${two.id} was dropped\n`);
    expect(await list()).toEqual([]);
  });
});

describe('who asks', () => {
  test('is told by a token of the environment or of a file, and needs the role', async () => {
    const { url } = served.atGate;
    const nobody = await escapement(['jobs'], { env: { ESCAPEMENT_URL: url } });
    expect([nobody.code, nobody.out]).toEqual([77, '']);
    expect(nobody.err).toContain('ESCAPEMENT_TOKEN or --token-file');
    const wrong = { ESCAPEMENT_URL: url, ESCAPEMENT_TOKEN: 'nobody-has-that-one' };
    expect((await escapement(['jobs'], { env: wrong })).code).toBe(77);
    expect((await escapement(['jobs'], as('rita', url))).code).toBe(0);
    const args = ['submit', '--timeout', '1m', '--workflow', 'one=echo'];
    expect((await escapement(args, as('rita', url))).code).toBe(77);
    expect((await escapement(args, as('sam', url))).code).toBe(0);
    const refused = await escapement(['cancel', 'nosuch'], as('sam', url));
    expect([refused.code, refused.err]).toEqual([77, expect.stringContaining('(403 forbidden)')]);
  });
});

/** An actor that cannot take what it was sent, until the trap is opened. */
async function setTrap({ runtime }: Manager): Promise<{ open(): void }> {
  let isShut = true;
  const machine = setup({
    types: { events: {} as { type: 'trap.sprung'; why: string } },
    guards: {
      holds: () => {
        if (isShut) throw new Error('the spring is broken');
        return true;
      },
    },
  }).createMachine({ on: { 'trap.sprung': { guard: 'holds' } } });
  const actor = await runtime.register('trap', machine).spawn('trap/1');
  for (const why of [`${ESC}[31mone`, 'two'])
    await actor.send({ type: 'trap.sprung', why }).catch(() => undefined);
  return {
    open: () => {
      isShut = false;
    },
  };
}
