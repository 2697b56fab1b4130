import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DirectorySocket, socketNameOf, watchSocket } from '../../stores/directory/socket.ts';
import { testDirectory } from './owner-processes.ts';

describe('the name of a socket', () => {
  test('fills its address on Linux, so that all releases of Node mean the same one', () => {
    const name = socketNameOf('1b.3z', 'linux');
    expect(name.startsWith('\0escapement.1b.3z.')).toBe(true);
    expect(Buffer.byteLength(name)).toBe(108);
    expect(name.indexOf('\0', 1)).toBe(-1);
  });

  test('is a pipe on Windows and a file elsewhere', () => {
    expect(socketNameOf('1.2', 'win32')).toBe('\\\\.\\pipe\\escapement.1.2');
    expect(socketNameOf('1.2', 'darwin')).toBe(join(tmpdir(), 'escapement.1.2.sock'));
  });
});

const KINDS: [string, () => string][] = [['a file', () => join(testDirectory(), 'lock.sock')]];
if (process.platform === 'linux') {
  KINDS.push(['an abstract name', () => socketNameOf(`test-${process.pid}`)]);
}

describe.each(KINDS)('a socket with %s', (_, nameFor) => {
  const bind = async (name: string) => {
    const socket = await DirectorySocket.bind(name);
    onTestFinished(() => socket?.close());
    return socket;
  };

  test('is for one, until it is closed', async () => {
    const name = nameFor();
    const first = await bind(name);
    expect(await bind(name)).toBeUndefined();
    first?.close();
    first?.close();
    expect(await bind(name)).toBeDefined();
  });

  test('keeps its watchers until it is closed', async () => {
    const name = nameFor();
    const socket = await bind(name);
    let isOver = false;
    const over = new Promise<void>((resolve) => {
      watchSocket(name, () => {
        isOver = true;
        resolve();
      });
    });
    // Another watcher that was accepted later shows that the first one was kept.
    const later = connect(name).on('error', () => {});
    await once(later, 'connect');
    expect(isOver).toBe(false);
    socket?.close();
    await over;
    later.destroy();
  });

  test('lets no stranger talk, and no more than 64 listen', async () => {
    const name = nameFor();
    await bind(name);
    const talker = connect(name, () => talker.write('hello')).on('error', () => {});
    await once(talker.resume(), 'close');
    const watchers = Array.from({ length: 70 }, () =>
      connect(name)
        .on('error', () => {})
        .resume(),
    );
    onTestFinished(() => {
      for (const watcher of watchers) watcher.destroy();
    });
    let closed = 0;
    await new Promise<void>((resolve) => {
      for (const watcher of watchers) {
        watcher.on('close', () => {
          closed += 1;
          if (closed === 6) resolve();
        });
      }
    });
    expect(watchers.filter((watcher) => !watcher.closed)).toHaveLength(64);
  });

  test('tells a watcher when nobody is there', async () => {
    await new Promise<void>((resolve) => watchSocket(nameFor(), resolve));
  });
});

describe.skipIf(process.platform === 'win32')('a socket file', () => {
  test('that outlived its process is replaced', async () => {
    const name = join(testDirectory(), 'lock.sock');
    const program = `require('net').createServer().listen(${JSON.stringify(name)}, () => console.log('up'))`;
    const child = spawn(process.execPath, ['-e', program]);
    await once(child.stdout, 'data');
    expect(await DirectorySocket.bind(name)).toBeUndefined();
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(existsSync(name)).toBe(true);
    const socket = await DirectorySocket.bind(name);
    expect(socket).toBeDefined();
    socket?.close();
  });

  test('that is no socket is replaced as well', async () => {
    const name = join(testDirectory(), 'lock.sock');
    writeFileSync(name, '');
    const socket = await DirectorySocket.bind(name);
    expect(socket).toBeDefined();
    socket?.close();
  });
});
