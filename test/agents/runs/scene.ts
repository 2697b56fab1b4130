/**
 * A run with real processes, for tests: a folder of its own, a plan, a clock that can be put forward, answers of a
 * human, and a look at what is left after it.
 *
 * Limits are those of the product unless a test says otherwise: minutes, which no machine is too slow for. A test
 * waits for what happens and then skips to the next deadline.
 */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect } from 'vitest';
import { type Answered, answerQuestion } from '../../../programs/agents/answering.ts';
import type { EventRecord, RunDocument, RunOptions } from '../../../programs/agents/index.ts';
import { runAgents } from '../../../programs/agents/index.ts';
import { eventually } from '../../kit/eventually.ts';
import { skippingClock } from '../../kit/skipping-clock.ts';

const STAND_IN = join(import.meta.dirname, 'stand-in.mjs');

const MINUTE = 60_000;
/** Defaults of a plan. */
export const AGENT_TIMEOUT = 15 * MINUTE;
export const CHECKPOINT_INTERVAL = 5 * MINUTE;
export const CHECKPOINT_TIMEOUT = MINUTE / 2;
export const DELEGATION_TIMEOUT = 10 * MINUTE;
/** Out of reach of all that a test skips. */
export const LONG = 1_000 * MINUTE;

export interface Given {
  /** Arguments of the stand-in of agent `coder`; others by name. */
  readonly coder?: string;
  readonly agents?: Readonly<Record<string, unknown>>;
  readonly experts?: Readonly<Record<string, string>>;
  readonly timeouts?: object;
  readonly options?: object;
  readonly slots?: number;
  readonly tasks?: readonly object[];
  readonly rest?: object;
}

export const standIn = (args: string): readonly string[] => [
  process.execPath,
  STAND_IN,
  ...args.split(' ').filter((each) => each !== ''),
];

/** A test with a scene of its own, after which no process of it is left. */
export const test = base.extend<{ readonly scene: Scene }>({
  scene: async ({ task: _ }, use) => {
    const scene = new Scene();
    await use(scene);
    expect(scene.processesLeft()).toEqual([]);
    scene.close();
  },
});

export class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'escapement-agents-'));
  readonly data = join(this.folder, 'data');
  readonly events: EventRecord[] = [];
  readonly #time = skippingClock();

  path(name: string): string {
    return join(this.folder, name);
  }

  read(name: string): string {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8') : '';
  }

  assigned(attemptId: string): Readonly<Record<string, unknown>> {
    return JSON.parse(this.read(`assigned-${attemptId}.json`)) as Readonly<Record<string, unknown>>;
  }

  /** Writes the plan, and gives the file. */
  write(given: Given): string {
    const { coder = 'work=200 answers', agents = {}, experts = {}, tasks } = given;
    const plan = {
      name: 'demo',
      slots: given.slots ?? 1,
      timeouts: { ...given.timeouts },
      options: { terminationGraceMs: 300, ...given.options },
      agents: { coder: standIn(coder), ...agents },
      experts: Object.fromEntries(
        Object.entries(experts).map(([name, args]) => [name, { command: standIn(args) }]),
      ),
      tasks: tasks ?? [{ id: 't', prompt: 'do it', agent: 'coder' }],
      ...given.rest,
    };
    writeFileSync(this.path('plan.yml'), JSON.stringify(plan, null, 2));
    return this.path('plan.yml');
  }

  /** Lets stand-ins go on that wait for this file. */
  touch(name: string): void {
    writeFileSync(this.path(name), '');
  }

  /** Puts the clock of its runs forward. */
  skip(ms: number): void {
    this.#time.skip(ms);
  }

  close(): void {
    this.#time.clock.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Waits until there are that many events of a type, or more. */
  seen(event: EventRecord['event'], count = 1): Promise<void> {
    return eventually(() => expect(this.eventsOf(event).length).toBeGreaterThanOrEqual(count));
  }

  /** Waits until a stand-in has noted it: `assigned`, `requested 1`, `stop timedOut`. */
  told(what: string, attemptId = 't#1'): Promise<void> {
    return eventually(() =>
      expect(this.read('told.log').split('\n')).toContain(`${attemptId} ${what}`),
    );
  }

  /** The next request of a checkpoint, which nobody answers. `inMs`: until it is due. */
  async miss(inMs = CHECKPOINT_INTERVAL): Promise<void> {
    const count = this.eventsOf('checkpoint_timeout').length + 1;
    const requests = this.eventsOf('checkpoint_requested').length;
    if (inMs > 0) {
      this.skip(inMs);
      await this.seen('checkpoint_requested', requests + 1);
    }
    this.skip(CHECKPOINT_TIMEOUT);
    await this.seen('checkpoint_timeout', count);
  }

  /** Ends when nothing but questions is left, unless told otherwise. */
  run(given: Given | string = {}, options: RunOptions = {}): Promise<RunDocument> {
    const file = typeof given === 'string' ? given : this.write(given);
    return runAgents(file, {
      data: this.data,
      exitWhenBlocked: true,
      clock: this.#time.clock,
      onEvent: (event) => this.events.push(event),
      ...options,
    });
  }

  answer(said: Parameters<typeof answerQuestion>[1], questionId = 'demo-q1'): Promise<Answered> {
    return answerQuestion(this.data, { ...said, questionId });
  }

  eventsOf(event: string): readonly EventRecord[] {
    return this.events.filter((each) => each.event === event);
  }

  /** Moments of events of a type after the start of an attempt. */
  momentsOf(event: string, attemptId = 't#1'): readonly number[] {
    const start = this.eventsOf('agent_started').find((each) => each.agent_id === attemptId);
    return this.eventsOf(event)
      .filter((each) => each.agent_id === attemptId)
      .map(({ at }) => at - (start?.at ?? 0));
  }

  /** Living processes of any attempt of this folder. */
  processesLeft(): readonly string[] {
    const mark = `\0ESCAPEMENT_ATTEMPT_MARK=${this.data}/`;
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => textOf(`/proc/${pid}/environ`).includes(mark))
      .filter((pid) => !/^\d+ \(.*\) [ZX]/s.test(textOf(`/proc/${pid}/stat`)));
  }
}

function textOf(path: string): string {
  try {
    return `\0${readFileSync(path, 'latin1')}`.slice(path.endsWith('stat') ? 1 : 0);
  } catch {
    return '';
  }
}

/** The outcomes of the attempts of a task, in their order. */
export const outcomesOf = ({ tasks }: RunDocument, taskId = 't'): readonly (string | null)[] =>
  tasks.find(({ id }) => id === taskId)?.attempts.map(({ outcome }) => outcome) ?? [];

export const stateOf = ({ tasks }: RunDocument, taskId = 't'): string | undefined =>
  tasks.find(({ id }) => id === taskId)?.state;
