/**
 * `data info | dump | verify | compact`: what is in a data directory, for people and for
 * other programs.
 *
 * All but `compact` only read, also while a node has the directory open. Nothing is
 * repaired: `verify` says what is wrong and exits 65.
 */

import { Command } from 'commander';
import { kindOf } from '../../runtime/base/address.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { tablesOf } from '../../runtime/statechart.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import type {
  DataInfo,
  OpenStoredData,
  Purpose,
  StoredActor,
  StoredData,
  Verification,
} from '../loaders/stored-data.ts';
import { counted, type Output, printable } from '../render/output.ts';

type SetExitCode = (code: ExitCode) => void;

interface JsonOption {
  readonly json?: boolean;
}

interface DumpOptions {
  readonly kind?: string;
  readonly address?: string;
  readonly history?: boolean;
  readonly undelivered?: boolean;
}

const READING_EXITS =
  'Exit codes: 0 done, 64 usage, 65 bad data or no store, 74 I/O, 77 no permission.';

export function dataCommand(
  output: Output,
  setExitCode: SetExitCode,
  open: OpenStoredData,
): Command {
  return new Command('data')
    .addHelpText(
      'after',
      '\nExamples:\n  $ escapement data info ./data\n  $ escapement data verify ./data',
    )
    .addCommand(infoCommand(output, open))
    .addCommand(dumpCommand(output, setExitCode, open))
    .addCommand(verifyCommand(output, setExitCode, open))
    .addCommand(compactCommand(output, open));
}

function infoCommand(output: Output, open: OpenStoredData): Command {
  return new Command('info')
    .description('What is in a data directory, in numbers.')
    .argument('<dir>', 'the data directory')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExamples:\n  $ escapement data info ./data\n\n${READING_EXITS}`)
    .action((directory: string, { json }: JsonOption) =>
      using(open, directory, 'look', (data) => {
        const info = data.info();
        output.write(json === true ? `${JSON.stringify(info, null, 2)}\n` : infoText(info));
      }),
    );
}

function dumpCommand(output: Output, setExitCode: SetExitCode, open: OpenStoredData): Command {
  return new Command('dump')
    .description('Every actor as one JSON object per line: address, entry, record.')
    .argument('<dir>', 'the data directory')
    .option('--kind <kind>', 'only actors of this kind')
    .option('--address <address>', 'only this actor, by its whole address')
    .option('--history', 'with the stored history rows')
    .option('--undelivered', 'the undelivered messages instead of the actors')
    .option('--json', 'changes nothing: it is JSON always')
    .addHelpText(
      'after',
      `\nExamples:\n  $ escapement data dump ./data --kind order\n  $ escapement data dump ./data --address order/42@shop-1 --history\n\nA record that cannot be read has "error" in its place, and the command exits 65.\n${READING_EXITS}`,
    )
    .action((directory: string, options: DumpOptions) =>
      using(open, directory, 'look', async (data) => {
        let isWhole = true;
        for (const row of rowsOf(data, options)) {
          if (output.isClosed) return;
          if ('error' in row) isWhole = false;
          if (!output.line(JSON.stringify(row))) await output.flushed();
        }
        if (!isWhole) setExitCode(EXIT.badData);
      }),
    );
}

function verifyCommand(output: Output, setExitCode: SetExitCode, open: OpenStoredData): Command {
  return new Command('verify')
    .description('Check every record, the index, and that nothing is missing.')
    .argument('<dir>', 'the data directory')
    .option('--json', 'print JSON')
    .addHelpText('after', `\nExamples:\n  $ escapement data verify ./data\n\n${READING_EXITS}`)
    .action((directory: string, { json }: JsonOption) =>
      using(open, directory, 'verify', (data) => {
        const found = data.verify((records) => {
          if (records % 10_000 === 0) output.progress(`${counted(records, 'record')} checked`);
        });
        output.progress(undefined);
        output.write(json === true ? `${JSON.stringify(found, null, 2)}\n` : verifyText(found));
        if (found.problems.length > 0) setExitCode(EXIT.badData);
      }),
    );
}

function compactCommand(output: Output, open: OpenStoredData): Command {
  return new Command('compact')
    .description('Rewrite the data file, without its free pages. Its owner must have stopped.')
    .argument('<dir>', 'the data directory')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  $ escapement data compact ./data\n\n${READING_EXITS.replace('74', '73 a node has it open, 74')}`,
    )
    .action((directory: string, { json }: JsonOption) =>
      using(open, directory, 'compact', async (data) => {
        const sizes = await data.compact();
        if (json === true) output.line(JSON.stringify(sizes, null, 2));
        else output.line(`${bytesText(sizes.beforeBytes)} → ${bytesText(sizes.afterBytes)}`);
      }),
    );
}

async function using(
  open: OpenStoredData,
  directory: string,
  purpose: Purpose,
  read: (data: StoredData) => void | Promise<void>,
): Promise<void> {
  const data = await open(directory, purpose);
  try {
    await read(data);
  } finally {
    await data.close();
  }
}

function* rowsOf(data: StoredData, options: DumpOptions): Generator<object> {
  if (options.undelivered === true) {
    for (const [id, row] of data.undelivered()) yield { id, ...(JSON.parse(row) as object) };
    return;
  }
  for (const actor of data.actors()) {
    if (options.address !== undefined && actor.address !== options.address) continue;
    if (options.kind !== undefined && kindOf(actor.address) !== options.kind) continue;
    yield rowOf(data, actor, options.history === true);
  }
}

function rowOf(data: StoredData, actor: StoredActor, hasHistory: boolean): object {
  const { address, entry } = actor;
  try {
    const record: unknown = JSON.parse(actor.record());
    const tables = tablesOf(actor.rows());
    const rows = tables.size === 0 ? {} : { rows: Object.fromEntries(tables) };
    if (!hasHistory) return { address, entry, record, ...rows };
    const history = data.history(address).map((row): unknown => JSON.parse(row));
    return { address, entry, record, ...rows, history };
  } catch (thrown) {
    return { address, entry, error: messageOf(thrown) };
  }
}

function infoText(info: DataInfo): string {
  const { format, createdAt, fences, records, owner } = info;
  const since = createdAt === null ? '' : `, created ${new Date(createdAt).toISOString()}`;
  const total = records.reduce((sum, { count }) => sum + count, 0);
  const lines = [
    `format       ${format}${since}`,
    `owner        ${owner === null ? 'none' : `process ${owner.pid}${owner.node === null ? '' : `, node ${printable(owner.node)}`}`}`,
    `size         ${bytesText(info.fileBytes)}, ${counted(info.freePages, 'free page')}`,
    `history      ${counted(info.historyRows, 'row')}`,
    `undelivered  ${counted(info.undelivered, 'message')}`,
    ...Object.entries(fences).map(([shard, fence]) => `fence        ${printable(shard)}: ${fence}`),
    `records      ${counted(total, 'actor')}`,
    ...records.map(({ kind, status, count }) => `  ${printable(kind)} ${status}  ${count}`),
  ];
  return `${lines.join('\n')}\n`;
}

function verifyText({ records, problems }: Verification): string {
  const verdict = problems.length === 0 ? 'OK' : `BAD: ${counted(problems.length, 'problem')}`;
  const lines = problems.map(
    ({ address, problem }) =>
      `  ${address === null ? 'the store' : printable(address)}: ${printable(problem)}`,
  );
  return `${[`${verdict}, ${counted(records, 'record')} checked`, ...lines].join('\n')}\n`;
}

function bytesText(bytes: number): string {
  return bytes < 1024 ** 2
    ? `${(bytes / 1024).toFixed(1)} KiB`
    : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
