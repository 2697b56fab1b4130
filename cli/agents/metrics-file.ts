/**
 * Metrics file: the metrics of a run as the textfile collector of Prometheus' node exporter reads them, in one piece.
 */

import { renameSync, writeFileSync } from 'node:fs';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';

export class MetricsFile {
  readonly #path: string;
  readonly #text: () => string;
  readonly #logger: Logger;
  #hasFailed = false;

  constructor(path: string, text: () => string, logger: Logger) {
    this.#path = path;
    this.#text = text;
    this.#logger = logger;
  }

  /** Puts the present values into the file. A disk that takes nothing is told once. */
  keep(): void {
    try {
      writeFileSync(`${this.#path}.new`, this.#text());
      renameSync(`${this.#path}.new`, this.#path);
      this.#hasFailed = false;
    } catch (thrown) {
      if (!this.#hasFailed)
        this.#logger.warn({ error: messageOf(thrown) }, 'the metrics could not be written');
      this.#hasFailed = true;
    }
  }
}
