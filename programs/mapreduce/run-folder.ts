/**
 * Folder of a run: what belongs to it and is no state. The workflow and the items as they were at its start,
 * what commands have printed, patches, results.
 *
 *   runs/<run>/workflow.yml · items.jsonl · results.json · agents/<agent>.0.out, …, item-0.json, …
 */

import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export class RunFolder {
  readonly path: string;

  constructor(data: string, runId: string) {
    this.path = join(data, 'runs', runId);
  }

  get workflowPath(): string {
    return join(this.path, 'workflow.yml');
  }

  get itemsPath(): string {
    return join(this.path, 'items.jsonl');
  }

  get resultsPath(): string {
    return join(this.path, 'results.json');
  }

  get exists(): boolean {
    return existsSync(this.path);
  }

  make(): void {
    mkdirSync(join(this.path, 'agents'), { recursive: true, mode: 0o700 });
  }

  readWorkflow(): string {
    return readFileSync(this.workflowPath, 'utf8');
  }

  /** A file of an attempt. Its files lie beside those of all others: a folder for each would cost more than they do. */
  agentFile(agentId: string, name: string): string {
    return join(this.path, 'agents', `${agentId}.${name}`);
  }

  /** File in which an attempt at work finds its item. */
  itemFile(place: number): string {
    return join(this.path, 'agents', `item-${place}.json`);
  }

  outputPath(agentId: string, index: number, stream: 'out' | 'err'): string {
    return this.agentFile(agentId, `${index}.${stream}`);
  }

  /** What a command has printed and was kept; nothing where it printed nothing. Not UTF-8 is U+FFFD. */
  output(agentId: string, index: number, stream: 'out' | 'err' = 'out'): string {
    return readText(this.outputPath(agentId, index, stream));
  }

  outputBytes(agentId: string, index: number): number {
    try {
      return statSync(this.outputPath(agentId, index, 'out')).size;
    } catch {
      return 0;
    }
  }
}

function readText(path: string): string {
  // Most commands print on one stream, and a failure costs more than a look.
  if (!existsSync(path)) return '';
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
