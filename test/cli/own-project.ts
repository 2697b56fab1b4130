/**
 * A folder like that of a user of the package: in it `escapement` and `xstate` can be imported, as what this
 * checkout compiles to. Modules of kinds are written into it.
 */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { compiledProgram } from '../kit/compiled.ts';
import { ROOT } from '../project-files.ts';

export class OwnProject {
  readonly folder: string;

  static async create(): Promise<OwnProject> {
    const package_ = dirname(dirname(compiledProgram()));
    const folder = mkdtempSync(join(tmpdir(), 'escapement-own-'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(package_, join(folder, 'node_modules', 'escapement'));
    symlinkSync(join(ROOT, 'node_modules', 'xstate'), join(folder, 'node_modules', 'xstate'));
    return new OwnProject(folder);
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Returns the path of the file. */
  write(name: string, text: string): string {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
