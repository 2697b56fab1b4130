/**
 * Commands and files of the documents, run as a reader would: in a folder in which the package is installed,
 * by a shell, with `npx escapement` as it stands there, or `escapement` by its path.
 *
 * A block that opens with "```js file NAME" is a file of the folder, "```sh process NAME" a line that starts a
 * process, "```sh run" a program of the shell. Ports from 7400 to 7499 are replaced by ones that are free.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { OwnProject } from '../cli/own-project.ts';
import { compiledProgram } from '../kit/compiled.ts';

export interface Block {
  /** What stands behind the three marks: `js file machines.js`. */
  readonly title: string;
  readonly text: string;
}

export function blocksOf(page: string): readonly Block[] {
  const blocks = page.matchAll(/^```([^\n]+)\n([\s\S]*?)^```$/gm);
  return Array.from(blocks, ([, title = '', text = '']) => ({ title, text }));
}

export class ShellFolder {
  readonly project: OwnProject;
  readonly #ports = new Map<string, number>();
  readonly #running = new Set<ChildProcess>();

  static async create(blocks: readonly Block[]): Promise<ShellFolder> {
    const project = await OwnProject.create();
    project.write('package.json', '{ "type": "module" }');
    for (const { title, text } of blocks) {
      const name = /^js file (\S+)$/.exec(title)?.[1];
      if (name !== undefined) project.write(name, text);
    }
    const command = `exec ${process.execPath} ${compiledProgram()} "$@"\n`;
    chmodSync(project.write('bin/npx', `#!/bin/sh\nshift\n${command}`), 0o755);
    const installed = project.write('node_modules/.bin/escapement', `#!/bin/sh\n${command}`);
    chmodSync(installed, 0o755);
    const folder = new ShellFolder(project);
    const ports = new Set(blocks.flatMap(({ text }) => text.match(PORT) ?? []));
    const free = await freePorts(ports.size + 1);
    for (const [index, port] of ['7400', ...[...ports].filter((one) => one !== '7400')].entries())
      folder.#ports.set(port, free[index] as number);
    return folder;
  }

  private constructor(project: OwnProject) {
    this.project = project;
    // A test that takes too long comes to no end of its own.
    process.once('exit', this.remove);
  }

  /** The same text with ports that are free here. */
  here(text: string): string {
    return text.replaceAll(PORT, (port) => String(this.#ports.get(port) ?? port));
  }

  /** One that leads a group of its own, so that what it leaves behind ends with it. */
  start(program: string): ChildProcess {
    const { PATH = '' } = process.env;
    const child = spawn('/bin/sh', ['-c', this.here(program)], {
      cwd: this.project.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${join(this.project.folder, 'bin')}:${PATH}`,
        // Where nothing is said, nodes listen at the first of the ports, and commands ask there.
        ESCAPEMENT_LISTEN: `127.0.0.1:${this.#ports.get('7400')}`,
        ESCAPEMENT_URL: `http://127.0.0.1:${this.#ports.get('7400')}`,
      },
    });
    this.#running.add(child);
    return child;
  }

  /** What it prints, when it ends with 0. @throws what it complained of */
  async run(program: string): Promise<string> {
    const child = this.start(program);
    const said = { out: '', err: '' };
    child.stdout?.on('data', (text) => {
      said.out += text;
    });
    child.stderr?.on('data', (text) => {
      said.err += text;
    });
    // What it started and left running holds its streams, so their end is not waited for.
    const [code] = await once(child, 'exit');
    await new Promise((resolve) => setImmediate(resolve));
    if (code === 0) return said.out;
    throw new Error(`${program}\nended with ${code}: ${said.err}${said.out}`);
  }

  readonly remove = (): void => {
    process.off('exit', this.remove);
    for (const { pid } of this.#running) killGroup(pid as number);
    this.project.remove();
  };
}

/** Anybody who is in the group of this process. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

const PORT = /\b74\d\d\b/g;

/** All at once, so that they differ. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<Server>((resolve) => {
          const server = createServer();
          server.listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
  );
  return ports;
}
