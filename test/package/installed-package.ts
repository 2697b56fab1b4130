/**
 * The package as its users get it: packed by npm from a copy of the sources, and installed
 * from that file into an empty project of its own.
 *
 * Nothing comes from a network. What package.json names as dependencies is linked from this
 * checkout and nothing else is, so what is imported and not named is missing there. The project
 * is outside of the checkout, where Node would find the sources and every development tool.
 */

import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { folderOf, listProjectFiles, ROOT, readProjectFile } from '../project-files.ts';

/** What no build of the package looks at. */
const LEFT_OUT = new Set(['bench', 'fuzz', 'test']);

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

export class InstalledPackage {
  /** The root of the project that has the package installed. */
  readonly project: string;
  readonly #folder: string;

  static async install(): Promise<InstalledPackage> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-package-')));
    const installed = new InstalledPackage(folder);
    try {
      await installed.#install(await installed.#pack());
      return installed;
    } catch (thrown) {
      installed.remove();
      throw thrown;
    }
  }

  private constructor(folder: string) {
    this.#folder = folder;
    this.project = join(folder, 'project');
    mkdirSync(this.project);
  }

  /** A path in the installed package. */
  file(path: string): string {
    return join(this.project, 'node_modules', 'escapement', path);
  }

  /** Writes a file of the project and returns its path. */
  write(name: string, text: string): string {
    const path = join(this.project, name);
    writeFileSync(path, text);
    return path;
  }

  /** Runs a program in the project. @throws what it printed, when it does not end with 0. */
  run(program: string, ...args: readonly string[]): Promise<Printed> {
    return runIn(this.project, program, args);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Returns the name of the packed file. */
  async #pack(): Promise<string> {
    const copy = join(this.#folder, 'copy');
    for (const path of listProjectFiles()) {
      if (LEFT_OUT.has(folderOf(path))) continue;
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      copyFileSync(join(ROOT, path), join(copy, path));
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    await npmIn(copy, this.#folder, ['pack', '--pack-destination', this.project]);
    const { name, version } = JSON.parse(readProjectFile('package.json'));
    return `${name}-${version}.tgz`;
  }

  async #install(packed: string): Promise<void> {
    const own = JSON.parse(readProjectFile('package.json'));
    const { dependencies: named, peerDependencies, peerDependenciesMeta } = own;
    // As npm does: a peer that is not optional is installed, too.
    const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]);
    const linked = [...Object.keys(named), ...peers].map((name) => [
      name,
      `file:${join(ROOT, 'node_modules', name)}`,
    ]);
    const dependencies = { escapement: `file:${packed}`, ...Object.fromEntries(linked) };
    this.write('package.json', JSON.stringify({ name: 'project', private: true, dependencies }));
    const options = ['--ignore-scripts', '--no-package-lock', '--no-audit', '--no-fund'];
    await npmIn(this.project, this.#folder, ['install', ...options]);
  }
}

/** With an empty cache, so that nothing comes from what somebody installed before. */
function npmIn(cwd: string, folder: string, args: readonly string[]): Promise<Printed> {
  return runIn(cwd, 'npm', ['--offline', '--cache', join(folder, 'npm-cache'), ...args]);
}

async function runIn(cwd: string, program: string, args: readonly string[]): Promise<Printed> {
  // What npm told the process that runs the tests is about this checkout.
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_)/i.test(name));
  return promisify(execFile)(program, [...args], { cwd, env: Object.fromEntries(own) });
}
