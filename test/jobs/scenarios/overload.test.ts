/**
 * More jobs than may wait: what is over the bound is refused and leaves nothing behind, what was
 * accepted comes to its end, and who waits comes in when there is room.
 */

import { describe, expect, onTestFinished, test } from 'vitest';
import type { SubmissionAnswer } from '../../../machines/jobs/messages/client.ts';
import type { JobsConfiguration } from '../../../programs/jobs/configuration.ts';
import type { JobsClient } from '../../../programs/jobs/index.ts';
import { type Cluster, scripted, startCluster } from '../cluster.ts';

const NO_WORKERS = { datacenters: { A: { workers: 0 } } };

async function start(
  config: Partial<JobsConfiguration>,
  datacenters: Parameters<typeof startCluster>[0]['datacenters'] = NO_WORKERS.datacenters,
): Promise<Cluster> {
  const cluster = await startCluster({ datacenters, config });
  onTestFinished(() => cluster.stop());
  return cluster;
}

const jobOf = (jobId: string, workflows = 1, runs = 10) => ({
  jobId,
  timeoutMs: 3_600_000,
  workflows: Array.from({ length: workflows }, (_, n) => scripted(`w${n}`, { runs })),
});

/** Each on a connection of its own, so that none waits for another. */
function submitAll(
  cluster: Cluster,
  client: JobsClient,
  ids: readonly string[],
): Promise<readonly SubmissionAnswer[]> {
  return cluster.time.during(Promise.all(ids.map((jobId) => client.submit(jobOf(jobId)))));
}

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

const isThere = async (cluster: Cluster, client: JobsClient, jobId: string): Promise<boolean> =>
  (await cluster.time.during(client.get(jobId))) !== undefined;

describe('a datacenter with as much as may wait', () => {
  test('refuses further jobs with a reason and a time, and nothing of them is there', async () => {
    const cluster = await start({ backlogWorkflowsMax: 4 });
    const client = await cluster.connect('A');
    const answers = await submitAll(cluster, client, numbered('j', 10));
    const refused = answers.filter(({ accepted }) => !accepted);
    expect(answers.length - refused.length).toBe(4);
    for (const answer of refused) {
      expect(answer).toMatchObject({ reason: 'overloaded', created: false, retryAfterMs: 5_000 });
      expect(await isThere(cluster, client, answer.jobId)).toBe(false);
    }
    const { counters, backlog, runtime } = cluster.manager('A.manager-1');
    expect(runtime.query({ kind: 'job' }).actors).toHaveLength(4);
    expect(runtime.query({ kind: 'workflow' }).actors).toHaveLength(4);
    expect(backlog).toMatchObject({ workflows: 4, clients: 1, isShedding: true });
    expect(counters.value('backlog_workflows_count')).toBe(4);
    // Each of them was tried again for as long as its client had patience.
    const shed = counters.value('job_submissions_shed_total', { bound: 'workflows' });
    expect(shed).toBeGreaterThan(6);
    expect(counters.value('job_submissions_refused_total', { reason: 'overloaded' })).toBe(shed);
    expect(cluster.recorder.errors()).toEqual([]);
  });

  test('answers a job that it has as it did before', async () => {
    const cluster = await start({ backlogWorkflowsMax: 2 });
    const client = await cluster.connect('A');
    await submitAll(cluster, client, ['a', 'b', 'c']);
    const [again] = await submitAll(cluster, client, ['a']);
    expect(again).toMatchObject({ accepted: true, created: false, status: 'submitted' });
    const other = { ...jobOf('a'), failFast: true };
    const conflict = await cluster.time.during(client.submit(other));
    expect(conflict).toMatchObject({ accepted: false, reason: 'conflict' });
  });

  test('takes a large job where anything may wait, and counts all of it', async () => {
    const cluster = await start({ backlogWorkflowsMax: 3 });
    const client = await cluster.connect('A');
    const large = await cluster.time.during(client.submit(jobOf('large', 700)));
    expect(large.accepted).toBe(true);
    expect(cluster.manager('A.manager-1').backlog.workflows).toBe(700);
    expect(await submitAll(cluster, client, ['next'])).toMatchObject([{ reason: 'overloaded' }]);
    const pages = await cluster.time.during(client.submit(jobOf('pages', 700)));
    expect(pages).toMatchObject({ accepted: false, reason: 'overloaded' });
  });

  test('takes jobs again when others have begun: a client that waits comes in', async () => {
    const cluster = await start({ backlogWorkflowsMax: 2 }, { A: { workers: 1, cores: 1 } });
    const client = await cluster.connect('A');
    const answers = await submitAll(cluster, client, numbered('j', 12));
    expect(answers.map(({ accepted }) => accepted)).not.toContain(false);
    for (const { jobId } of answers)
      expect(await cluster.time.during(client.wait(jobId))).toMatchObject({ status: 'completed' });
    expect(cluster.manager('A.manager-1').backlog).toMatchObject({ workflows: 0, clients: 0 });
    const shed = { bound: 'workflows' };
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.value('job_submissions_shed_total', shed)).toBeGreaterThan(0);
  });

  test('has room again for one that is cancelled', async () => {
    const cluster = await start({ backlogWorkflowsMax: 1 });
    const client = await cluster.connect('A');
    await submitAll(cluster, client, ['a']);
    expect(await submitAll(cluster, client, ['b'])).toMatchObject([{ reason: 'overloaded' }]);
    await cluster.time.during(client.cancel('a'));
    expect(await submitAll(cluster, client, ['b'])).toMatchObject([{ accepted: true }]);
  });

  test('keeps a share for anybody who does not flood it', async () => {
    const cluster = await start({ backlogWorkflowsMax: 20 });
    const flooder = await cluster.connect('A');
    const modest = await cluster.connect('A', 'modest');
    await submitAll(cluster, flooder, numbered('flood', 30));
    const answers = await submitAll(cluster, modest, numbered('modest', 10));
    expect(answers.filter(({ accepted }) => accepted)).toHaveLength(10);
    expect(await submitAll(cluster, flooder, ['more'])).toMatchObject([{ reason: 'overloaded' }]);
  });

  test('is known as full to the manager that takes over', async () => {
    const cluster = await start({ backlogWorkflowsMax: 3 });
    const client = await cluster.connect('A');
    await submitAll(cluster, client, ['a', 'b', 'c']);
    cluster.crash('A.manager-1');
    await cluster.time.runFor(10_000);
    await cluster.time.during(cluster.restart('A.manager-1'));
    await cluster.time.runFor(10_000);
    expect(cluster.manager('A.manager-1').backlog.workflows).toBe(3);
    // Whose they are nobody knows, so this client has its share beside them.
    const answers = await submitAll(cluster, client, numbered('j', 6));
    expect(answers.filter(({ accepted }) => accepted)).toHaveLength(2);
  });

  test('refuses what could not begin within its time, by how fast the others were done', async () => {
    const config = { backlogFreeWorkflows: 0, backlogWaitMaxMs: 5_000 };
    const cluster = await start(config, { A: { workers: 1, cores: 1 } });
    const client = await cluster.connect('A');
    await cluster.time.during(client.submit(jobOf('slow', 20, 1_000)));
    await cluster.time.runFor(10_000);
    expect(await submitAll(cluster, client, ['now'])).toMatchObject([{ accepted: true }]);
    const { counters } = cluster.manager('A.manager-1');
    expect(counters.value('job_submissions_shed_total', { bound: 'wait' })).toBeGreaterThan(0);
  });
});
