/** The reader of traces, on traces written by hand: a good one passes, every bad one is seen. */

import { describe, expect, test } from 'vitest';
import { checkTrace } from './trace.ts';

const DATA = '</data/data.mdb>';
const opened = `7 openat(AT_FDCWD</x>, "/data/data.mdb", O_RDWR|O_CREAT, 0664) = 22${DATA}`;
const openedSync = `7 openat(AT_FDCWD</x>, "/data/data.mdb", O_WRONLY|O_DSYNC|O_CLOEXEC) = 23${DATA}`;
const pages = `8 writev(22${DATA}, [{iov_base="..", iov_len=4096}], 1) = 4096`;
const page = `8 pwrite64(22${DATA}, ".."..., 4096, 8192) = 4096`;
const sync = `8 fdatasync(22${DATA})  = 0`;
const meta = `8 pwrite64(23${DATA}, ".."..., 128, 40) = 128`;
const ack = '7 write(1<pipe:[5]>, "ack 1 1\\n", 8) = 8';
const before = [opened, openedSync];

const check = (...lines: readonly string[]) =>
  checkTrace(lines.join('\n'), { file: '/data.mdb', acknowledgement: 'ack ' });

const made = '7 mkdir("/new/data", 0700) = 0';
const madeFile = openedSync.replace('"/data/', '"/new/data/').replace('O_DSYNC', 'O_CREAT|O_DSYNC');
const moved = '7 rename("/new/data/lease.json.tmp", "/new/data/lease.json") = 0';
const syncAbove = '7 fsync(9</new>) = 0';
const syncData = '7 fsync(9</new/data>) = 0';
const written = [meta, ack];

const checkNames = (...lines: readonly string[]) =>
  checkTrace([...lines, ...written].join('\n'), {
    file: '/data.mdb',
    acknowledgement: 'ack ',
    entries: '/new',
  }).faults.filter((fault) => fault.includes('the name of'));

describe('a good trace', () => {
  test.each<[string, readonly string[]]>([
    ['of one commit', [...before, page, pages, sync, meta, ack]],
    ['of two commits', [...before, page, sync, meta, ack, pages, sync, meta, ack]],
    ['with fsync in place of fdatasync', [...before, page, `8 fsync(22${DATA}) = 0`, ack]],
    ['through a synchronous descriptor alone', [...before, meta, ack]],
    ['with O_SYNC', [openedSync.replace('O_DSYNC', 'O_SYNC'), meta, ack]],
    [
      'with calls that another thread interrupts',
      [
        ...before,
        `8 writev(22${DATA}, [{iov_base=".."}], 1 <unfinished ...>`,
        '7 write(1<pipe:[5]>, "ready\\n", 6) = 6',
        '8 <... writev resumed>) = 4096',
        `8 fdatasync(22${DATA} <unfinished ...>`,
        '9 write(15<anon_inode:[eventfd]>, "\\1", 8) = 8',
        '8 <... fdatasync resumed>) = 0',
        meta,
        ack,
      ],
    ],
    [
      'where a write that failed is made again',
      [
        ...before,
        page.replace('= 4096', '= -1 ENOSPC (No space left on device)'),
        page,
        sync,
        meta,
        ack,
      ],
    ],
    [
      'with writes to other files',
      [...before, page, sync, meta, '7 write(9</x/log>, "a", 1) = 1', ack],
    ],
    ['that goes on writing after the acknowledgement', [...before, page, sync, meta, ack, page]],
  ])('%s has no faults', (_, lines) => {
    expect(check(...lines)).toMatchObject({ faults: [] });
  });
});

describe('a bad trace', () => {
  test.each<[string, readonly string[]]>([
    ['without a sync', [...before, page, ack]],
    ['that syncs afterwards', [...before, page, meta, ack, sync]],
    ['that syncs before the last write', [...before, page, sync, pages, ack]],
    ['that syncs another file', [...before, page, '8 fdatasync(24</data/lock.mdb>) = 0', ack]],
    [
      'whose sync fails',
      [...before, page, sync.replace('= 0', '= -1 EIO (Input/output error)'), ack],
    ],
    [
      'whose sync is not finished',
      [
        ...before,
        page,
        `8 fdatasync(22${DATA} <unfinished ...>`,
        ack,
        '8 <... fdatasync resumed>) = 0',
      ],
    ],
    [
      'whose sync began before the write was finished',
      [
        ...before,
        `9 writev(22${DATA}, [{iov_base=".."}], 1 <unfinished ...>`,
        `8 fdatasync(22${DATA} <unfinished ...>`,
        '9 <... writev resumed>) = 4096',
        '8 <... fdatasync resumed>) = 0',
        ack,
      ],
    ],
    [
      'whose synchronous write is not finished',
      [...before, page, sync, `8 pwrite64(23${DATA}, ".." <unfinished ...>`, ack],
    ],
    [
      'through a descriptor that is not synchronous any more',
      [...before, opened.replace('= 22', '= 23'), meta, ack],
    ],
    ['through a descriptor nobody saw opened', [page, ack]],
    ['where nothing was written for an acknowledgement', [...before, page, sync, meta, ack, ack]],
  ])('%s is found', (_, lines) => {
    expect(check(...lines).faults).toHaveLength(1);
  });
});

test('says how much it has seen', () => {
  expect(check(...before, page, pages, sync, meta, ack)).toMatchObject({
    acknowledgements: 1,
    writes: 3,
    syncs: 1,
  });
});

describe('a name', () => {
  test.each<[string, readonly string[]]>([
    ['of a directory', [made, syncAbove]],
    ['of a file', [madeFile, syncData]],
    ['that was moved', [moved, syncData]],
    ['that was not made after all', [made.replace('= 0', '= -1 EEXIST (File exists)')]],
    ['elsewhere', ['7 mkdir("/tmp/x", 0700) = 0']],
  ])('%s that is synced has no faults', (_, lines) => {
    expect(checkNames(...before, ...lines)).toEqual([]);
  });

  test.each<[string, readonly string[]]>([
    ['of a directory', [made]],
    ['of a directory whose own entries are synced instead', [made, syncData]],
    ['of a file', [madeFile]],
    ['that was moved', [syncData, moved]],
    ['whose sync fails', [moved, syncData.replace('= 0', '= -1 EIO (Input/output error)')]],
    [
      'whose sync began before it was made',
      ['8 fsync(9</new/data> <unfinished ...>', moved, '8 <... fsync resumed>) = 0'],
    ],
  ])('%s that is not synced is found', (_, lines) => {
    expect(checkNames(...before, ...lines)).toHaveLength(1);
  });
});
