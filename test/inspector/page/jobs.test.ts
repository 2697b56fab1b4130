/**
 * The page of a jobs system: every panel with live data at both widths and in both colour schemes, a job followed from
 * its submission to the verdict on it, and a leader that is killed while somebody looks.
 */

import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { JobsCluster } from './jobs-cluster.ts';
import { faint, hasBrowser, overflow, Pages, seen } from './opened.ts';
import { CLICKS_MAX, Newcomer, QUESTIONS } from './questions.ts';

const cluster = new JobsCluster();
const pages = new Pages();
const job = (id: string): string => encodeURIComponent(`job/${id}@A`);

/** Panel by panel: where it is, and what of it has to come. */
const PANELS: Readonly<Record<string, readonly [view: string, selector: string, text: RegExp]>> = {
  overview: ['#/overview', '.kind', /gate-job[\s\S]*active/],
  'overview of nodes': ['#/overview', '.nodes li', /A\.manager-2.*stands by for A/s],
  'due next': ['#/overview', 'section[aria-label="Due next"] li', /job\/.*overallLimit|job\//s],
  actors: ['#/actors?kind=job', '.rows .row', /frozen/],
  'actors, the next deadline first': ['#/actors?sort=deadline', '.rows .row .countdown', /\d/],
  chart: [`#/actor/${job('frozen')}`, '.canvas svg .lit', /./],
  countdowns: [`#/actor/${job('frozen')}`, '.canvas svg .countdown', /\d/],
  'why, of a living one': [`#/actor/${job('frozen')}?tab=why`, '.exits tr', /overallLimit/],
  'why, of one that timed out': [`#/actor/${job('late')}?tab=why`, '.verdict', /time/],
  turns: [`#/actor/${job('late')}?tab=turns`, '.row.turn', /overallLimit/],
  timeline: ['#/timeline?kind=job', '.lane .actor-link', /late/],
  'timeline of one': [`#/actor/${job('late')}?tab=timeline`, '.lane', /timedOut|late/],
  messages: [`#/actor/${job('late')}?tab=messages`, '.arrow .what', /./],
  timeouts: ['#/timeouts', '.timeout-lines li', /gate-job|job/],
  kind: ['#/kind/job', '.canvas svg .badge', /\d/],
  undelivered: ['#/letters', '.empty', /none/],
};

const HOUR_MS = 3_600_000;

beforeAll(async () => {
  if (!hasBrowser) return;
  await cluster.submit('done', [['one', 'work', 10]]);
  await cluster.submit('late', [['one', 'work', 60_000]], { timeoutMs: 1_500 });
  // It lives for as long as the tests take, on whatever machine.
  const long = { timeoutMs: HOUR_MS, stuckThresholdMs: HOUR_MS };
  await cluster.submit('frozen', [['one', 'freeze', 0]], long);
  await eventually(async () => {
    const { body } = await cluster.node('gate').ask('GET', '/v1/jobs/late');
    expect(body.status).toBe('timedOut');
  });
});

describe.skipIf(!hasBrowser)('with live data', () => {
  describe.each([
    [1_280, 'light'],
    [1_280, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('at %i px, %s', (width, scheme) => {
    test('every panel shows it, within the screen, to be read', async () => {
      const page = await pages.open(cluster.page('gate'), { width, scheme });
      for (const [name, [view, selector, text]] of Object.entries(PANELS)) {
        await page.goto(cluster.page('gate', view));
        await seen(page, selector, text);
        expect({ name, wide: await overflow(page) }).toEqual({ name, wide: [] });
        expect({ name, faint: await faint(page) }).toEqual({ name, faint: [] });
      }
      await page.keyboard.press('?');
      await seen(page, '[role=dialog]', 'elkjs');
      expect(await faint(page)).toEqual([]);
    });
  });
});

describe.skipIf(!hasBrowser)('the first page answers with three clicks at most', () => {
  test.each(Object.entries(QUESTIONS))('%s', async (_, ask) => {
    const page = await pages.open(cluster.page('gate'));
    await seen(page, '.kind', 'gate-job');
    const asks = new Newcomer(page);
    await ask(asks);
    expect(asks.clicks).toBeLessThanOrEqual(CLICKS_MAX);
  });
});

describe.skipIf(!hasBrowser)('a job', () => {
  test('is followed from its submission to the verdict on it, with three clicks', async () => {
    const page = await pages.open(cluster.page('gate', '#/overview'));
    await seen(page, '.kind', 'gate-job');
    await cluster.submit('followed', [['one', 'freeze', 0]], { timeoutMs: 60_000 });
    await (await seen(page, 'section[aria-label="Due next"] a', 'job/followed@A')).click();
    await seen(page, '.canvas svg .lit', 'running');
    await seen(page, '.canvas svg .countdown', /\d/);
    const due = async (): Promise<number> =>
      Number(
        await page
          .locator('section[aria-label="Deadlines"] li')
          .filter({ hasText: 'overallLimit' })
          .locator('.countdown')
          .getAttribute('data-due'),
      );
    const before = await due();

    await page.getByRole('button', { name: 'Extend by 1 min' }).click();
    await seen(page, '.answer.taken', 'It has 60 s more');
    await eventually(async () => expect(await due()).toBe(before + 60_000));

    await page.getByRole('link', { name: 'Why' }).click();
    await seen(page, '.exits tr', 'overallLimit');
    await seen(page, '.sums tr', /1 min 0 s|60 s|1 min/);

    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await seen(page, '.answer.refused', 'Refused.');

    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await seen(page, '.answer.taken');
    await seen(page, '.verdict', /cancel/i);
    await (await seen(page, '.chain a', 'turn')).click();
    await seen(page, '.turn-detail');
  });

  test('goes on being shown when its leader is killed, by the node that takes over', async () => {
    const leader = ['A.manager-1', 'A.manager-2'].find((name) =>
      cluster.node(name).lines.some(({ event }) => event === 'node.hosting'),
    ) as string;
    const other = leader === 'A.manager-1' ? 'A.manager-2' : 'A.manager-1';
    const view = `#/actor/${job('frozen')}`;
    const ofGate = await pages.open(cluster.page('gate', view), { allow: /Failed to load/ });
    const ofLeader = await pages.open(cluster.page(leader, view), { allow: /Failed to load|ERR_/ });
    await seen(ofGate, '.actor-head', `on ${leader}`);
    await seen(ofLeader, '.canvas svg .lit');

    await cluster.node(leader).kill();
    await seen(ofLeader, '.freshness.lost', 'the node is gone');
    await seen(ofLeader, '.note', 'this is what it said last');
    await seen(ofLeader, '.canvas svg .lit');
    await seen(ofGate, '.actor-head', `on ${other}`);
    await seen(ofGate, '.canvas svg .countdown', /\d/);
    await ofGate.goto(cluster.page('gate', '#/overview'));
    await seen(
      ofGate,
      '.nodes li',
      new RegExp(`${other.replace('.', '\\.')}.*hosts A, fence 2`, 's'),
    );
  });
});
