/**
 * Inbox of a live run: answers and commands that other processes have left in its folder, each applied once.
 */

import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { OrchestrationEvent } from '../../machines/agents/orchestration/context.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import type { Sent } from '../../runtime/machine.ts';
import type { Cancel, Clock } from '../../runtime/ports/clock.ts';
import type { RunFolder } from './run-folder.ts';

export interface InboxServices {
  readonly clock: Clock;
  readonly logger: Logger;
  /** With an id under which it is taken once, however often it is sent. */
  send(event: Sent<OrchestrationEvent>, id: string): Promise<void>;
}

/** Where the system says nothing of new files, they are looked for. */
const LOOK_EVERY_MS = 500;

export class Inbox {
  readonly #folder: RunFolder;
  readonly #services: InboxServices;
  readonly #watchers: FSWatcher[] = [];
  readonly #taken = new Set<string>();
  #cancel: Cancel = () => {};
  #looking: Promise<void> | undefined;
  #isClosed = false;

  constructor(folder: RunFolder, services: InboxServices) {
    this.#folder = folder;
    this.#services = services;
    for (const name of ['answers', 'commands'])
      try {
        const watcher = watch(join(folder.path, name), () => void this.look());
        watcher.on('error', () => {});
        this.#watchers.push(watcher);
      } catch (thrown) {
        services.logger.debug({ error: messageOf(thrown) }, 'a folder cannot be watched');
      }
    this.#later();
  }

  /** Applies what is there. Resolves when it is durable. */
  async look(): Promise<void> {
    this.#looking ??= this.#take().finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    for (const watcher of this.#watchers) watcher.close();
    await this.#looking;
  }

  #later(): void {
    const { clock } = this.#services;
    this.#cancel = clock.schedule(clock.now() + LOOK_EVERY_MS, () => {
      void this.look();
      if (!this.#isClosed) this.#later();
    });
  }

  /** Told once, and left where it is. */
  #damaged(file: string): void {
    if (this.#taken.has(file)) return;
    this.#taken.add(file);
    this.#services.logger.warn({ file }, 'a file that was left for the run cannot be read');
  }

  async #take(): Promise<void> {
    try {
      for (const { questionId, said } of this.#folder.answers((name) => this.#damaged(name))) {
        if (this.#taken.has(questionId) || this.#isClosed) continue;
        await this.#services.send(
          { type: 'question.answered', questionId, said },
          `answer:${questionId}`,
        );
        this.#taken.add(questionId);
      }
      for (const { id, command } of this.#folder.commands((name) => this.#damaged(name))) {
        if (this.#isClosed) return;
        await this.#services.send(command, `command:${id}`);
        this.#folder.removeCommand(id);
      }
    } catch (thrown) {
      // A run that stops takes it when it goes on.
      if (!this.#isClosed)
        this.#services.logger.warn({ error: messageOf(thrown) }, 'an answer could not be applied');
    }
  }
}
