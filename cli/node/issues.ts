/**
 * Issues of a configuration, as they are found: collected, so that all of them are told at once, and
 * each with where it comes from.
 */

import { resolve as resolvePath } from 'node:path';
import type { IssueSink } from '../../reading/issues.ts';
import { type Layered, originOf } from './layers.ts';
import { ConfigurationError, type Issue, type Origin } from './origin.ts';

export class Issues implements IssueSink<Origin> {
  readonly layered: Layered;
  /** For the person who starts the node; they stop nothing. */
  readonly warnings: string[] = [];
  readonly #found: Issue[] = [];

  constructor(layered: Layered) {
    this.layered = layered;
  }

  get isEmpty(): boolean {
    return this.#found.length === 0;
  }

  /** Something is wrong with the setting, or with a part of it. */
  isWrong(name: string): boolean {
    return this.#found.some(({ path }) => path === name || path.startsWith(`${name}.`));
  }

  /** A value that makes no sense whatever else is said. */
  add(origin: Origin, path: string, what: string): void {
    this.#found.push({ path, what, origin, isMalformed: true });
  }

  /** A value that cannot be used here, or not with the others. */
  unusable(path: string, what: string, origin = originOf(this.layered.origins, path)): void {
    this.#found.push({ path, what, origin });
  }

  /** A path that a setting says, resolved from the folder of its source. */
  pathOf(path: string, value: string): string {
    return resolvePath(this.layered.folderOf(path), value);
  }

  /** @throws {ConfigurationError} when anything was wrong until now. */
  end(): void {
    if (!this.isEmpty) throw new ConfigurationError(this.#found);
  }
}
