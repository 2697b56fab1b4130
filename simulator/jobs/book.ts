/**
 * A book beside the jobs system: an actor of its own place that takes entries, and a clerk that makes them by
 * calls with ids. Its limits are tiny, its disk is slow, and both nodes die again and again.
 *
 * Guarantees: what the clerk asks for and what it hears is in the history, as records `log`. It repeats an
 * entry under the same id until it is answered, over its own deaths and those of the book. A task makes
 * several entries of one durable effect, which begins again when one of them is refused.
 */

import { createRuntime } from '../../create-runtime.ts';
import type { PerformerCall } from '../../runtime/actor.ts';
import { RuntimeError } from '../../runtime/base/errors.ts';
import type { RuntimeLimits } from '../../runtime/base/limits.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { start } from '../faults.ts';
import type { World } from '../world.ts';
import { type BookEvent, bookMachine, type TaskParams } from './book-machine.ts';
import type { PlannedBook } from './plan.ts';

export const BOOK = 'book';
const CLERK = 'clerk';
export const BOOK_NODES = [BOOK, CLERK];
const BOOK_ADDRESS = `book/1@${BOOK}`;
/** Between two pages of a task. */
const PAGE_PAUSE_MS = 100;
const EFFECT_TRIES = 1_000;
const REPEAT_MS = 700;
const TRIES_MAX = 40;

export class Book {
  readonly #world: World;
  readonly #plan: PlannedBook;

  /** Adds the nodes; nothing runs yet. */
  constructor(world: World, plan: PlannedBook) {
    this.#world = world;
    this.#plan = plan;
    const { mailboxMax, sendersMax, outboxMax, dedupRetentionMs } = plan;
    const limits = { mailboxMax, sendersMax, outboxMax, dedupRetentionMs };
    this.#add(BOOK, BOOK, limits);
    this.#add(CLERK, CLERK, limits);
  }

  /** All that is asked of it from zero on. */
  schedule(): void {
    const world = this.#world;
    const { entries, deaths, commitMs } = this.#plan;
    world.at(0, () => {
      world.diskOf(BOOK).takes({ shape: 'fixed', ms: commitMs });
      return this.#send('opened', { type: 'entry.made', entry: 'opened' });
    });
    for (const { atMs, id, pages } of entries)
      world.at(atMs, () =>
        this.#send(
          id,
          pages === undefined
            ? { type: 'entry.made', entry: id }
            : { type: 'task.given', task: id, pages },
        ),
      );
    for (const { atMs, node, downMs } of deaths) {
      world.at(atMs, () => (world.node(node).isUp ? world.node(node).crash() : undefined));
      world.at(atMs + downMs, () => start(world, world.node(node)));
    }
  }

  /** Again and again until it is answered. */
  async #send(id: string, event: BookEvent, tries = 1): Promise<void> {
    const world = this.#world;
    const tell = (message: string, outcome?: string): void =>
      world.history.add(CLERK, {
        type: 'log',
        level: 'debug',
        message,
        fields: { entry: id, ...(outcome !== undefined && { outcome }) },
      });
    let hasRepeated = false;
    const again = (): void => {
      if (hasRepeated || tries >= TRIES_MAX) return;
      hasRepeated = true;
      world.at(world.now() + REPEAT_MS, () => this.#send(id, event, tries + 1));
    };
    const clerk = world.node(CLERK);
    if (!clerk.isRunning) return again();
    tell('entry asked');
    const { runtime } = clerk.program as unknown as { readonly runtime: OwnRuntime };
    // A caller that dies hears nothing: it is asked for again all the same.
    let isOver = false;
    world.at(world.now() + 3 * REPEAT_MS, () => {
      if (!isOver) again();
    });
    try {
      await runtime.actor(BOOK_ADDRESS).send(event as never, { id });
      isOver = true;
      tell('entry answered', 'ok');
    } catch (thrown) {
      if (!(thrown instanceof RuntimeError)) throw thrown;
      if (isOver) return;
      isOver = true;
      tell('entry answered', thrown.code);
      again();
    }
  }

  #add(node: string, place: string, limits: Partial<RuntimeLimits>): void {
    this.#world.add({
      node,
      place,
      start: async ({ counter: _, ...ports }) => {
        const runtime = await createRuntime({ node, place, limits, telemetry: false, ...ports });
        runtime.register('book', bookMachine, {
          perform: {
            makePages: {
              durable: true,
              attemptsMax: EFFECT_TRIES,
              run: (call: PerformerCall) => makePages(call, ports.clock),
            },
          },
        });
        if (node === BOOK) await runtime.spawn(BOOK_ADDRESS as never, { ifAbsent: true } as never);
        return { runtime, stop: () => runtime.stop() };
      },
    });
  }
}

type OwnRuntime = Awaited<ReturnType<typeof createRuntime>>;

/** One page after the other, whatever becomes of those before it. */
async function makePages({ params, send }: PerformerCall, clock: Clock): Promise<void> {
  const { task, pages } = params as TaskParams;
  const sent: Promise<void>[] = [];
  for (let page = 1; page <= pages; page += 1) {
    const one = send({ type: 'entry.made', entry: `${task}.${page}` } as never);
    one.catch(() => {});
    sent.push(one);
    await new Promise<void>((resolve) =>
      clock.schedule(clock.now() + PAGE_PAUSE_MS, () => resolve()),
    );
  }
  await Promise.all(sent);
}
