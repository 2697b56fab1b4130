/**
 * Socket of a directory's lock, the part that the operating system keeps: a local socket with a
 * name that only one process can have.
 *
 * Guarantees: one holder at a time among processes that share a network namespace; it ends with its
 * process, however that ends, and no fork or cluster worker inherits it. A process that connects is
 * kept connected for as long as the holder holds, so the end of the connection tells of the end of
 * the holder, at once. It never keeps a process alive. Between containers with a network of their
 * own it does nothing: owner-file.ts does.
 */

import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Further ones are closed at once and have to look again from time to time. */
const WATCHERS_MAX = 64;

/**
 * All the bytes an address has room for. Old and new releases of Node disagree about the end of
 * shorter names: Node 20 fills them up with zeros, and a later one would not find it in its way.
 */
const ABSTRACT_NAME_BYTES = 108;

/** The name of the socket for a directory with this identity. */
export function socketNameOf(identity: string, system: string = platform()): string {
  const name = `escapement.${identity}`;
  if (system === 'linux') return `\0${name}`.padEnd(ABSTRACT_NAME_BYTES, '.');
  if (system === 'win32') return `\\\\.\\pipe\\${name}`;
  return join(tmpdir(), `${name}.sock`);
}

export class DirectorySocket {
  readonly #server: Server;
  readonly #watchers = new Set<Socket>();

  /** Binds the name; undefined when another process, or another holder in this one, has it. */
  static async bind(name: string): Promise<DirectorySocket | undefined> {
    try {
      return await new DirectorySocket().#listen(name);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw thrown;
    }
    if (!isFile(name) || (await isAnswered(name))) return undefined;
    // A file outlives its process. If two come here at once, the owner file decides.
    rmSync(name, { force: true });
    try {
      return await new DirectorySocket().#listen(name);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw thrown;
      return undefined;
    }
  }

  private constructor() {
    this.#server = createServer((watcher) => {
      this.#watchers.add(watcher);
      watcher.unref();
      watcher.on('error', () => watcher.destroy());
      watcher.on('close', () => this.#watchers.delete(watcher));
      // Nobody has anything to say here; reading is what shows that a watcher left.
      watcher.on('data', () => watcher.destroy());
    });
    this.#server.maxConnections = WATCHERS_MAX;
    this.#server.unref();
  }

  /** Frees the name at once. Idempotent. */
  close(): void {
    this.#server.close();
    for (const watcher of this.#watchers) watcher.destroy();
  }

  #listen(name: string): Promise<this> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      // A cluster worker would otherwise share the socket of its primary.
      this.#server.listen({ path: name, exclusive: true }, () => {
        this.#server.off('error', reject);
        // Running out of descriptors while accepting must not end the process.
        this.#server.on('error', () => {});
        resolve(this);
      });
    });
  }
}

/**
 * Connects to the holder of the socket and calls `ended` once when the connection is over or could
 * not be made. The function that comes back leaves without `ended` being called.
 */
export function watchSocket(name: string, ended: () => void): () => void {
  const connection = connect(name);
  connection.unref();
  connection.on('error', () => connection.destroy());
  connection.on('close', ended);
  connection.resume();
  return () => {
    connection.off('close', ended);
    connection.destroy();
  };
}

function isFile(name: string): boolean {
  return !name.startsWith('\0') && !name.startsWith('\\\\');
}

function isAnswered(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(name, () => {
      connection.destroy();
      resolve(true);
    });
    connection.on('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'),
    );
  });
}
