/**
 * Copies of the project's sources in a temporary folder, as they are or with a plant in them.
 *
 * Guarantees: the sources themselves are never written to; a plant whose place is not there, or not
 * the only one, makes no copy. What is copied is read once, so that all copies of a hunt are of the
 * same sources, whatever happens to these meanwhile. The folder goes with `remove`.
 */

import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { edited, PLANS_FOLDER, type Plant } from './plant.ts';

/** All that a run of the jobs system, or of a test file, may load. */
const COPIED = [
  'inspector',
  'machines',
  'programs',
  'reading',
  'runtime',
  'simulator',
  'stores',
  'telemetry',
  'transports',
  'create-runtime.ts',
  'installed-xstate.ts',
  'index.ts',
  'package.json',
  'tsconfig.json',
  'test/planted',
  PLANS_FOLDER,
] as const;
const COPIED_FOR_SUITES = ['http', 'test', 'vitest.config.ts'] as const;

export class Copies {
  readonly #project: string;
  readonly #root: string;
  readonly #clean: string;
  readonly #ofPlants = new Map<string, string>();

  constructor(project: string) {
    this.#project = project;
    this.#root = mkdtempSync(join(tmpdir(), 'escapement-planted-'));
    this.#clean = join(this.#root, 'clean');
    mkdirSync(this.#clean);
    for (const name of [...COPIED, ...COPIED_FOR_SUITES])
      cpSync(join(project, name), join(this.#clean, name), { recursive: true });
    this.#link(this.#clean);
  }

  /** The sources as they are. */
  get clean(): string {
    return this.#clean;
  }

  /** The folder with this plant in it, made when it is first asked for. @throws {Error} */
  with(plant: Plant): string {
    const known = this.#ofPlants.get(plant.id);
    if (known !== undefined) return known;
    const folder = join(this.#root, plant.id);
    mkdirSync(folder);
    const names = plant.suite === undefined ? COPIED : [...COPIED, ...COPIED_FOR_SUITES];
    for (const name of names)
      cpSync(join(this.#clean, name), join(folder, name), { recursive: true });
    for (const edit of plant.edits) {
      const file = join(folder, edit.file);
      writeFileSync(file, edited(readFileSync(file, 'utf8'), edit));
    }
    this.#link(folder);
    this.#ofPlants.set(plant.id, folder);
    return folder;
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  #link(folder: string): void {
    symlinkSync(join(this.#project, 'node_modules'), join(folder, 'node_modules'), 'dir');
  }
}
