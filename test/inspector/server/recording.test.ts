/** Recordings of a living node: what is kept of whom, for how long, within which limits, and across restarts. */

import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openLmdbData } from '../../../cli/loaders/lmdb-data.ts';
import { openRested } from '../../../cli/loaders/rested.ts';
import type { InspectorHandlerOptions } from '../../../inspector/options.ts';
import type {
  Overview,
  RecordedHeader,
  RecordedLine,
  TimeoutsView,
  UndeliveredLine,
} from '../../../inspector/protocol.ts';
import { recordingFolder } from '../../../inspector/recording/kept.ts';
import { Recorded, readLines } from '../../../inspector/recording/recorded.ts';
import { Recorder } from '../../../inspector/recording/recorder.ts';
import { Resting } from '../../../inspector/recording/resting.ts';
import { lmdbStore } from '../../../stores/lmdb.ts';
import { call, type Inspected, inspected } from './inspected.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-recording-'));
  folders.push(folder);
  return folder;
}

const ORDER = 'order/1@node-1';

const add = (node: Inspected, key = '1', more = {}) =>
  node.runtime.actor(`order/${key}` as never).send({ type: 'order.add', ...more } as never);

async function recordedBy(node: Inspected): Promise<Array<RecordedHeader | RecordedLine>> {
  const { status, text } = await call(node.port, '/api/recording');
  expect(status).toBe(200);
  return readLines(text);
}

const turnsIn = (lines: ReadonlyArray<RecordedHeader | RecordedLine>, address = ORDER) =>
  lines.flatMap((line) => (line.type === 'turn' && line.address === address ? [line] : []));

/** A node on disk that records beside its data. */
function lasting(data: string, record: InspectorHandlerOptions['record'] = {}, log: object[] = []) {
  // A busy machine has a runtime warn of other things.
  const tell = (fields: { readonly event?: string }): void => {
    if (fields.event?.startsWith('inspector.') === true) log.push(fields);
  };
  const logger = { debug: () => {}, info: () => {}, warn: tell, error: tell };
  const options = typeof record === 'object' ? { directory: data, ...record } : record;
  return inspected({ record: options }, { store: lmdbStore(data), logger } as never);
}

test('a recording in a directory goes on after a restart, with its contexts and events', async () => {
  const data = freshFolder();
  let node = await lasting(data);
  await node.runtime.spawn('order/1' as never);
  await add(node, '1', { note: 'before', apiToken: 'sesame' });
  await node.close();

  node = await lasting(data);
  await add(node, '1', { note: 'after' });
  const lines = await recordedBy(node);
  expect(turnsIn(lines).map(({ turn, event }) => [turn, event['note']])).toEqual([
    [1, undefined],
    [2, 'before'],
    [3, 'after'],
  ]);
  const lives = lines.flatMap((line) => (line.type === 'node' ? [[line.change, line.life]] : []));
  expect(lives).toEqual([
    ['started', 1],
    ['stopped', 1],
    ['started', 2],
  ]);
  const { body } = await call(node.port, `/api/turns?address=${ORDER}`);
  expect(body.turns.map((turn: never) => turn['context']['value']['items'])).toEqual([0, 1, 2]);
  expect(body.turns[1].payload.value).toMatchObject({ note: 'before', apiToken: '[redacted]' });
  expect(JSON.stringify(lines)).not.toContain('sesame');
  await node.close();

  // What is in the directory has the same, though its history knows no contexts and no events.
  const { lines: dead } = await openRested(data, openLmdbData, {} as never);
  const recorded = new Recorded(dead);
  expect(recorded.turns(ORDER).map(({ context }) => context?.value)).toMatchObject([
    { items: 0 },
    { items: 1 },
    { items: 2 },
  ]);
  expect(recorded.turns(ORDER)[1]?.payload?.value).toMatchObject({ note: 'before' });
  expect(recorded.chart('order')?.states.length).toBeGreaterThan(0);
  expect(recorded.evidence(ORDER)?.deadlines).toHaveLength(1);
});

test('a directory tells what needs somebody, what is due next, and states without a history', async () => {
  const data = freshFolder();
  const node = await inspected({}, { store: lmdbStore(data) } as never);
  await node.runtime.spawn('order/1' as never);
  await node.runtime.spawn('order/2' as never);
  const fail = { type: 'order.fail' } as never;
  await expect(node.runtime.actor('order/2' as never).send(fail)).rejects.toThrow();
  await node.close();
  const { lines } = await openRested(data, openLmdbData, {} as never);
  // A history may be shorter than the life of its actor, or gone.
  const rest = lines.filter((line) => line.type !== 'turn' || line.address !== ORDER);
  const resting = new Resting(new Recorded(rest), 'directory');
  const overview = (await resting.query('overview', {})) as Overview;
  expect(overview.kinds).toMatchObject([{ kind: 'order', states: [{ state: 'open', count: 2 }] }]);
  expect(overview.attention.map(({ sort, count }) => [sort, count])).toEqual([
    ['failed', 1],
    ['undelivered', 1],
  ]);
  expect(overview.soonest.map(({ address }) => address)).toEqual([ORDER, 'order/2@node-1']);
  const { rows } = (await resting.query('undelivered', {})) as { rows: UndeliveredLine[] };
  expect(rows).toMatchObject([{ to: 'order/2@node-1', type: 'order.fail' }]);
  const { soonest } = (await resting.query('timeouts', {})) as TimeoutsView;
  expect(soonest.map(({ address }) => address)).toEqual([ORDER, 'order/2@node-1']);
});

test('what a killed node did not write is there as its history has it', async () => {
  const data = freshFolder();
  const node = await lasting(data);
  await node.runtime.spawn('order/1' as never);
  await add(node);
  await node.close();
  const folder = recordingFolder(data, 'node-1');
  const [file = ''] = readdirSync(folder);
  const lines = readFileSync(join(folder, file), 'utf8').trimEnd().split('\n');
  const last = lines.findLastIndex((line) => line.includes('"turn":2'));
  // Cut off within the second turn.
  writeFileSync(
    join(folder, file),
    `${lines.slice(0, last).join('\n')}\n${lines[last]?.slice(0, 40)}`,
  );

  const { lines: dead } = await openRested(data, openLmdbData, {} as never);
  const turns = new Recorded(dead).turns(ORDER);
  expect(turns.map(({ turn }) => turn)).toEqual([1, 2]);
  expect(turns[1]?.payload).toBeUndefined();
  const again = await lasting(data);
  await add(again);
  const recorded = await recordedBy(again);
  expect(turnsIn(recorded).map(({ turn }) => turn)).toEqual([1, 3]);
  expect(recorded.flatMap((line) => (line.type === 'node' ? [line.change] : []))).toEqual([
    'started',
    'crashed',
    'started',
  ]);
  await again.close();
});

test('a damaged part is told and left out, and what is behind it is whole', async () => {
  const data = freshFolder();
  let node = await lasting(data, { turnsMax: 16 });
  await node.runtime.spawn('order/1' as never);
  for (let turn = 0; turn < 7; turn += 1) await add(node);
  await node.close();
  const folder = recordingFolder(data, 'node-1');
  const [first = ''] = readdirSync(folder).sort();
  appendFileSync(join(folder, first), '{nope\n');
  const log: object[] = [];
  node = await lasting(data, { turnsMax: 16 }, log);
  expect(log).toMatchObject([{ event: 'inspector.recordingDamaged', files: [first] }]);
  const { body } = await call(node.port, `/api/turns?address=${ORDER}`);
  expect(body.turns.map((turn: never) => turn['context']['value']['items'])).toEqual([
    0, 1, 2, 3, 4, 5, 6, 7,
  ]);
  await node.close();
});

test('at its limits it loses the oldest part, and each file is a recording by itself', async () => {
  const data = freshFolder();
  const limits = { turnsMax: 40, bytesMax: 20_000 };
  const node = await inspected({ record: { directory: data, ...limits } });
  await node.runtime.spawn('order/1' as never);
  for (let turn = 0; turn < 120; turn += 1) await add(node, '1', { turn });
  await node.close();
  const folder = recordingFolder(data, 'node-1');
  const files = readdirSync(folder).sort();
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8'));
  expect(texts.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(limits.bytesMax);
  expect(files.length).toBeGreaterThan(3);
  expect(files[0]).not.toBe('00000001.jsonl');
  for (const text of texts) {
    const turns = new Recorded(readLines(text)).turns(ORDER);
    for (const { turn, context } of turns)
      expect(context?.value).toMatchObject({ items: turn - 1 });
  }
  const all = turnsIn(texts.flatMap((text) => readLines(text)));
  expect(all.length).toBeGreaterThan(20);
  expect(all.length).toBeLessThanOrEqual(limits.turnsMax);
  expect(all.at(-1)?.turn).toBe(121);
});

test('files that can no longer be written are told, and it goes on in memory', async () => {
  const data = freshFolder();
  const log: object[] = [];
  const node = await lasting(data, { turnsMax: 8 }, log);
  await node.runtime.spawn('order/1' as never);
  rmSync(recordingFolder(data, 'node-1'), { recursive: true });
  for (let turn = 0; turn < 4; turn += 1) await add(node);
  expect(log).toMatchObject([{ event: 'inspector.recordingFailed' }]);
  expect(turnsIn(await recordedBy(node)).map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 5]);
  await node.close();
});

test('a directory that is none, and options that are none, are refused', async () => {
  const data = freshFolder();
  const file = join(data, 'file');
  writeFileSync(file, '');
  const refused = { code: 'OPTION_INVALID' };
  await expect(inspected({ record: { directory: file } })).rejects.toMatchObject(refused);
  await expect(inspected({ record: { directory: '' } })).rejects.toMatchObject(refused);
  await expect(inspected({ record: { turns: 3 } as never })).rejects.toMatchObject(refused);
  await expect(inspected({ record: { kinds: 'order' } as never })).rejects.toMatchObject(refused);
});

test('a further wish adds to a recording, and an actor that does nothing is in it', async () => {
  const node = await inspected();
  for (const key of ['1', '2', '3']) await node.runtime.spawn(`order/${key}` as never);
  const record = (addresses: readonly string[]) =>
    call(node.port, '/api/command', { body: { type: 'record', addresses, forMs: 60_000 } });
  expect((await record([ORDER])).body.why).toBe('Recording for 60 s.');
  expect((await record(['order/2@node-1'])).body.outcome).toBe('taken');
  for (const key of ['2', '3']) await add(node, key);
  const lines = await recordedBy(node);
  expect(turnsIn(lines).map(({ turn, isBare }) => [turn, isBare])).toEqual([[1, true]]);
  expect(turnsIn(lines, 'order/2@node-1').map(({ turn }) => turn)).toEqual([1, 2]);
  expect(turnsIn(lines, 'order/3@node-1')).toEqual([]);
  const recorded = new Recorded(lines);
  expect(recorded.evidence(ORDER)).toMatchObject({ state: 'open', deadlines: [{ name: 'limit' }] });
  const test = await call(node.port, `/api/test?address=${ORDER}`);
  expect(test.text).toContain('the type alone is known');
  await node.close();
});

test('one that records everything is not narrowed by a wish', async () => {
  const node = await inspected({ record: true });
  await node.runtime.spawn('order/1' as never);
  const body = { type: 'record', addresses: ['order/2@node-1'], forMs: 60_000 };
  const { body: answer } = await call(node.port, '/api/command', { body });
  expect(answer).toMatchObject({ outcome: 'taken', why: expect.stringContaining('already') });
  await add(node);
  const lines = await recordedBy(node);
  expect(turnsIn(lines)).toHaveLength(2);
  expect(lines.some(({ type }) => type === 'commit')).toBe(true);
  await node.close();
});

test('what is remembered of actors goes with the last of their lines', () => {
  const recorder = recorderOf({ turnsMax: 10, bytesMax: 1_000_000 });
  for (let index = 0; index < 1_000; index += 1)
    recorder.read(turnOf(`order/${index}@a`, 1, { index }));
  expect(recorder.remembered).toBeLessThanOrEqual(10);
});

test('a context that is too big to keep is not what the next one is a patch upon', () => {
  const recorder = recorderOf({ turnsMax: 10, bytesMax: 10_000_000 });
  const contexts = [{ a: 1 }, { a: 2, text: 'x'.repeat(300_000) }, { a: 3 }, { a: 4 }];
  for (const [index, context] of contexts.entries())
    recorder.read(turnOf(ORDER, index + 1, context));
  const shown = new Recorded(recorder.lines()).turns(ORDER).map(({ context }) => context?.value);
  expect(shown).toEqual([{ a: 1 }, undefined, { a: 3 }, { a: 4 }]);
  expect(contexts.map((_, index) => recorder.contextAt(ORDER, index + 1)?.value)).toEqual(shown);
});

const recorderOf = (rules: { turnsMax: number; bytesMax: number }) =>
  new Recorder(
    { now: () => 0, definition: () => undefined, node: 'a', place: 'a', version: '0' },
    rules,
  );

const turnOf = (address: string, turn: number, context: unknown) => ({
  ...{ type: 'turn' as const, node: 'a', place: 'a', at: turn, takenAt: turn, address, turn },
  ...{ event: { type: 'tick' }, from: undefined, counter: undefined, state: 'on' },
  ...{ context, error: undefined },
});
