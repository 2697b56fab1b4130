/** Signals to a node: to end in order, to end at once, to read its configuration again. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Cluster, ended, manager, runs, sleepJob, until, worker } from './started-cluster.ts';

const cluster = new Cluster();

describe('signals (H21)', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('a second %s ends it at once with %i', async (signal, code) => {
    const leader = await cluster.serving(manager(cluster.freshData()));
    const runner = await cluster.serving(
      worker('A.worker-1', [leader], ['--listen', '127.0.0.1:0']),
    );
    await leader.ask('POST', '/v1/jobs', sleepJob('long', 50_000));
    await runs(leader, 'long');
    runner.child.kill(signal);
    await runner.said('node.draining');
    expect((await runner.ask('GET', '/readyz')).status).toBe(503);
    runner.child.kill(signal);
    expect(await runner.ended).toMatchObject({ code, signal: null });
  });

  test('a worker gives what runs its time, then ends', async () => {
    const leader = await cluster.serving(manager(cluster.freshData()));
    const runner = await cluster.serving(worker('A.worker-1', [leader], ['--stop-limit', '20s']));
    await leader.ask('POST', '/v1/jobs', sleepJob('short', 700));
    await runs(leader, 'short');
    expect((await runner.stop()).code).toBe(0);
    expect(await ended(leader, 'short')).toMatchObject({ status: 'completed' });
    expect((await leader.ask('GET', '/v1/jobs/short')).body.workflows[0].attempts).toBe(1);
  });

  test('the end of anybody who started it counts as the first, where it is told so', async () => {
    const node = await cluster.serving(manager(cluster.freshData(), ['--exit-with-parent']));
    node.child.stdin?.end();
    expect(await node.ended).toMatchObject({ code: 0, err: '' });
    expect(node.lines.at(-1)).toMatchObject({ event: 'node.stopped' });
  });
});

describe('SIGHUP (H16)', () => {
  test('takes over tokens and the level of the log; a bad file changes nothing', async () => {
    const at = mkdtempSync(join(cluster.folder, 'reload-'));
    const write = (name: string, text: string) =>
      writeFileSync(join(at, name), text, { mode: 0o600 });
    const configure = (clients: string, level: string) =>
      write(
        'manager.yml',
        `datacenter: A\nlisten: 127.0.0.1:0\ndata: data\nclients: [${clients}]\nlog: {level: ${level}}\n`,
      );
    write('alice', 'the token of alice 1'.replaceAll(' ', '-'));
    write('bob', 'the token of bob 123'.replaceAll(' ', '-'));
    const alice = '{name: alice, role: operator, tokenFile: alice}';
    const bob = '{name: bob, role: reader, tokenFile: bob}';
    configure(alice, 'info');
    const node = await cluster.serving(['manager', '--config', join(at, 'manager.yml')]);
    const as = async (name: string) => {
      const authorization = `Bearer the-token-of-${name}`;
      return (await node.ask('GET', '/v1/jobs', undefined, { authorization })).status;
    };
    expect([await as('alice-1'), await as('bob-123')]).toEqual([200, 401]);

    configure(`${alice}, {name: bob}`, 'debug');
    node.child.kill('SIGHUP');
    const refused = await node.said('configuration.refused');
    expect(refused).toMatchObject({ level: 'error', error: expect.stringContaining(':4:') });
    expect([await as('alice-1'), await as('bob-123')]).toEqual([200, 401]);

    configure(bob, 'warn');
    node.child.kill('SIGHUP');
    await until(
      async () => [await as('alice-1'), await as('bob-123')],
      ([first, second]) => first === 401 && second === 200,
    );
    expect((await node.stop()).code).toBe(0);
    // It went without a word: nothing below a warning is logged any more.
    expect(node.lines.at(-1)).toMatchObject({ event: 'configuration.refused' });
  });
});
