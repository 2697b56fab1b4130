import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { CommandFailure, EXIT, failureOf } from '../../cli/exit.ts';
import { run } from '../../cli/program.ts';
import { Output, printable } from '../../cli/render/output.ts';
import { RECORD_FORMAT } from '../../runtime/actor/kind.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import { STORE_FORMAT } from '../../stores/lmdb/row.ts';
import { readProjectFile } from '../project-files.ts';
import { ended, escapement, start } from './command-line.ts';

const ESC = '\u001b';

/** Commands whose result is a file or a page, and no answer. */
const MAKING_FILES = ['inspect', 'record'];

describe('usage', () => {
  test.each([
    [['upgrade']],
    [['check-upgrade']],
    [['check-upgrade', 'old.mjs']],
    [['check-upgrade', 'old.mjs', 'new.mjs']],
    [['check-upgrade', 'old.mjs', 'new.mjs', '--data']],
    [['check-upgrade', 'old.mjs', 'new.mjs', '--data', 'd', 'another']],
    [['check-upgrade', 'old.mjs', 'new.mjs', '--data', 'd', '--limit', 'abc']],
    [['check-upgrade', 'old.mjs', 'new.mjs', '--data', 'd', '--limit', '-1']],
    [['check-upgrade', 'old.mjs', 'new.mjs', '--data', 'd', '--limit', '1e3']],
    [['version', '--verbose']],
    [['version', 'more']],
    [['--frobnicate']],
  ])(
    'that is wrong exits 64, with the usage on standard error and nothing else: %j',
    async (args) => {
      const { code, out, err } = await escapement(args);
      expect(code).toBe(64);
      expect(out).toBe('');
      expect(err).toMatch(/^error: .*\n/);
      expect(err).toMatch(/^usage: escapement/m);
    },
  );

  test('without a command is the help, on standard error', async () => {
    const { code, out, err } = await escapement([]);
    expect([code, out]).toEqual([64, '']);
    expect(err).toContain('check-upgrade');
  });

  test('that is misspelt is answered with what may have been meant', async () => {
    expect((await escapement(['chek-upgrade'])).err).toContain('Did you mean check-upgrade?');
    const { err } = await escapement(['check-upgrade', 'a', 'b', '--dta', 'x']);
    expect(err).toContain('Did you mean --data?');
  });

  test('is repeated without its terminal escapes', async () => {
    const { err } = await escapement([`${ESC}[31mred`]);
    expect(err).toContain('\\u001b[31mred');
    expect(err).not.toContain(ESC);
  });

  test.each([['--help'], ['help'], ['check-upgrade', '--help'], ['version', '--help']])(
    'is explained on standard output: %j',
    async (...args) => {
      const { code, out, err } = await escapement(args);
      expect([code, err]).toEqual([0, '']);
      expect(out).toMatch(/^Usage: escapement/);
    },
  );

  test('has examples, exit codes and --json for every command, however deep', async () => {
    const sources = { openStoredData: () => Promise.reject(new Error('Nothing is opened.')) };
    const commandsOf = async (...above: string[]) => {
      const { out } = await escapement([...above, '--help'], sources);
      const names = Array.from(out.matchAll(/^ {2}([a-z][a-z-]+) {2,}|^ {2}([a-z][a-z-]+) [[<]/gm));
      return { out, names: names.map(([, one, other]) => one ?? other ?? '') };
    };
    const { names } = await commandsOf();
    expect(names).toEqual(expect.arrayContaining(['check-upgrade', 'version', 'submit', 'data']));
    const open = names.filter((name) => name !== 'help').map((name) => [name]);
    for (const path of open) {
      const { out, names: inner } = await commandsOf(...path);
      const isGroup = out.includes('[command]');
      if (isGroup) open.push(...inner.filter((n) => n !== 'help').map((name) => [...path, name]));
      expect(out, path.join(' ')).toContain(`$ escapement ${path.join(' ')}`);
      if (isGroup) continue;
      expect(out, path.join(' ')).toContain('Exit codes:');
      if (!MAKING_FILES.includes(path.join(' '))) expect(out, path.join(' ')).toContain('--json');
    }
    expect(open.length).toBeGreaterThan(18);
  });
});

test('every command and every exit code is in docs/cli.md, and no other', async () => {
  const page = readProjectFile('docs/cli.md');
  const listed = page.split('\n## ')[0]?.matchAll(/^\| `([a-z-]+)` /gm) ?? [];
  const code = readProjectFile('cli/commands/commands.ts');
  const names = Array.from(code.matchAll(/^ {4}name: '([a-z-]+)'/gm), ([, name]) => name);
  expect(Array.from(listed, ([, name]) => name).sort()).toEqual([...names, 'help'].sort());
  const codes = Array.from(page.matchAll(/^\| (\d+) +\|/gm), ([, one]) => Number(one));
  expect(codes).toEqual(Object.values(EXIT));
});

describe('version', () => {
  const { version, dependencies, devDependencies } = JSON.parse(readProjectFile('package.json'));

  test('says what runs, and which formats it knows', async () => {
    const { code, out } = await escapement(['version', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      escapement: version,
      node: process.versions.node,
      xstate: devDependencies.xstate,
      lmdb: dependencies.lmdb,
      recordFormat: RECORD_FORMAT,
      storeFormat: STORE_FORMAT,
    });
    expect((await escapement(['version'])).out).toMatch(/^escapement +\d+\.\d+\.\d+\nnode /);
    expect((await escapement(['--version'])).out).toBe(`${version}\n`);
  });
});

describe('failures', () => {
  const thrownBy = (act: () => unknown): string => {
    try {
      act();
    } catch (thrown) {
      return failureOf(thrown).message;
    }
    return 'nothing was thrown';
  };

  test.each([
    [new CommandFailure(EXIT.usage, 'x'), 64],
    [new RuntimeError('STORE_LOCKED', 'x'), 73],
    [new RuntimeError('STORE_FAILED', 'x'), 74],
    [new RuntimeError('STORE_UNWRITABLE', 'x'), 77],
    [new RuntimeError('STORE_UNAVAILABLE', 'x'), 69],
    [new RuntimeError('STORE_DAMAGED', 'x'), 65],
    [new RuntimeError('STORE_MISSING', 'x'), 65],
    [new RuntimeError('RECORD_INVALID', 'x'), 65],
    [Object.assign(new Error('x'), { code: 'ENOENT' }), 65],
    [Object.assign(new Error('x'), { code: 'EACCES' }), 77],
    [Object.assign(new Error('x'), { code: 'EIO' }), 74],
    [Object.assign(new Error('x'), { code: 'ENOSPC' }), 74],
    [new TypeError('x'), 70],
    [undefined, 70],
    [Object.create(null), 70],
  ])('end with their own code: %#', (thrown, code) => {
    expect(failureOf(thrown).exitCode).toBe(code);
  });

  test('of the system are told by the path and in words', () => {
    expect(thrownBy(() => readFileSync('nowhere.yml'))).toBe(
      'nowhere.yml: there is no such file or directory.',
    );
    expect(thrownBy(() => readFileSync(import.meta.dirname))).toMatch(/EISDIR|is a directory/);
    expect(failureOf(Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' })).message).toBe(
      'write ENOSPC',
    );
  });

  test('that nobody foresaw say where to report them', () => {
    expect(failureOf(new TypeError('oops')).message).toMatch(/^Internal error: oops\n.*report/s);
  });
});

describe('output', () => {
  const failing = (code: string) =>
    new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })),
    });

  test('to a reader that has gone is dropped, without an error', async () => {
    const output = new Output(failing('EPIPE'), new PassThrough());
    output.line('one');
    await output.flushed();
    expect(output.isClosed).toBe(true);
    expect(output.line('two')).toBe(true);
    expect(await run(['version'], new Output(failing('EPIPE'), new PassThrough()))).toBe(0);
  });

  test('that cannot be written is an I/O error', async () => {
    const err = new PassThrough();
    expect(await run(['version'], new Output(failing('ENOSPC'), err))).toBe(74);
    expect(String(err.read())).toContain('ENOSPC');
  });

  test('shows control characters and turned text as what they are', () => {
    expect(printable(`a${ESC}[2Jb\u0007\u009b\u202ec\nd`)).toBe(
      'a\\u001b[2Jb\\u0007\\u009b\\u202ec\\u000ad',
    );
    expect(printable('größer → 42 “”')).toBe('größer → 42 “”');
  });

  test('has progress only where somebody is there to read it', () => {
    const plain = new PassThrough();
    new Output(new PassThrough(), plain).progress('1 of 2');
    expect(plain.read()).toBeNull();
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    const output = new Output(new PassThrough(), terminal);
    output.progress('1 of 2');
    output.complain('trouble\n');
    expect(String(terminal.read())).toBe(`\r${ESC}[2K1 of 2\r${ESC}[2Ktrouble\n`);
  });

  test('replaces all lines of progress, none of which is wider than the terminal', () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 6 });
    const output = new Output(new PassThrough(), terminal);
    output.progress('one\ntwo');
    output.progress('much too wide');
    output.progress(undefined);
    expect(String(terminal.read())).toBe(
      `\r${ESC}[2Kone\ntwo\r${ESC}[2K${ESC}[1A${ESC}[2Kmuch \r${ESC}[2K`,
    );
  });
});

describe('as a process', () => {
  test('it exits with the code of the command', async () => {
    const [version, wrong] = await Promise.all([
      ended(start(['version', '--json'])),
      ended(start(['nothing-like-it'])),
    ]);
    expect(version.code).toBe(0);
    expect(JSON.parse(version.out)).toMatchObject({ node: process.versions.node });
    expect(wrong).toMatchObject({ code: 64, out: '' });
  });

  test.skipIf(!existsSync('/dev/full'))('H22: it exits with 74 when the disk is full', async () => {
    const full = openSync('/dev/full', 'w');
    const child = start(['version'], {}, full);
    expect(await ended(child)).toMatchObject({
      code: 74,
      err: expect.stringContaining('the result could not be written: ENOSPC'),
    });
    closeSync(full);
  });

  test('it is quiet when its reader goes away', async () => {
    const child = start(['check-upgrade', '--help']);
    child.stdout?.destroy();
    expect(await ended(child)).toMatchObject({ code: 0, err: '' });
  });
});
