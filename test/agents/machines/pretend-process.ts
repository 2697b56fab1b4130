/**
 * Process of a pretend world: an agent or an expert that does what a seed says, in virtual time. It goes on when
 * the runtime has crashed, and writes down what it was told.
 */

import type { ProcessParams } from '../../../machines/agents/process-end.ts';
import type { SeededRandom } from '../../../simulator/world/random.ts';

export interface Line {
  readonly type: string;
  readonly requestId?: string;
  readonly timeoutMs?: number;
  readonly [field: string]: unknown;
}

/** The part of the world that a process needs. */
export interface Around {
  now(): number;
  later(ms: number, task: () => void): void;
  /** To its actor; lost where the runtime that started it is no more. */
  tell(event: object): void;
}

export class PretendProcess {
  readonly params: ProcessParams & { readonly attempt: number };
  readonly startedAt: number;
  endedAt: number | null = null;
  /** Reported a result before anybody made it stop. */
  saidDone = false;
  readonly signals: Array<{ readonly signal: string; readonly at: number }> = [];
  readonly lines: Array<{ readonly line: Line; readonly at: number }> = [];
  /** Stretches in which it waited for somebody. */
  readonly waits: Array<{ readonly from: number; to: number | null }> = [];
  /** Moments of its lines. */
  readonly spoke: number[] = [];
  /** Tokens that it said it has used, by moment. */
  readonly tokens: number[] = [];
  readonly answered: Array<{ readonly requestId: string | null; readonly at: number }> = [];
  readonly #around: Around;
  readonly #random: SeededRandom;
  readonly #answersIn: number;
  readonly #heedsIn: number;
  #rest = 0;
  #requests = 0;

  constructor(params: PretendProcess['params'], around: Around, random: SeededRandom) {
    this.params = params;
    this.#around = around;
    this.#random = random;
    this.startedAt = around.now();
    this.#answersIn =
      random.next() < 0.5 ? Math.floor(random.next() * 250) : Number.POSITIVE_INFINITY;
    this.#heedsIn =
      random.next() < 0.7 ? Math.floor(random.next() * 300) : Number.POSITIVE_INFINITY;
    this.#rest = 1 + Math.floor(random.next() * 4);
    around.later(0, () => around.tell({ type: 'process.started', group: 7, startTicks: null }));
    this.#next();
  }

  get isAlive(): boolean {
    return this.endedAt === null;
  }

  /** One step after another: work, ask, delegate, and in the end a result, a failure, an exit or silence. */
  #next(): void {
    const isHung = this.#random.next() < 0.15;
    if (isHung) return;
    this.#around.later(1 + Math.floor(this.#random.next() * 700), () => {
      if (!this.isAlive) return;
      this.#rest -= 1;
      if (this.#rest > 0) this.#act();
      else this.#finish();
    });
  }

  #act(): void {
    const drawn = this.#random.next();
    const requestId = `r${++this.#requests}`;
    if (this.params.role === 'expert' || drawn < 0.3) {
      const remainingPercent = Math.floor(this.#random.next() * 40);
      const kind = drawn < 0.1 ? 'context' : 'agent';
      this.tokens.push(this.#around.now());
      this.#say({ type: 'usage.reported', kind, remainingPercent, amounts: { tokens: 1 } });
      this.#next();
    } else if (drawn < 0.33) this.#say({ type: 'quota.exhausted', resetsInMs: 300 });
    else if (drawn < 0.6) {
      this.waits.push({ from: this.#around.now(), to: null });
      const expert = this.#random.next() < 0.1 ? 'nobody' : 'sql';
      const asked = { type: 'delegation.requested', requestId, expert, prompt: 'p', data: null };
      this.#say(asked);
      if (this.#random.next() < 0.1) this.#say(asked);
    } else if (drawn < 0.8) {
      this.waits.push({ from: this.#around.now(), to: null });
      const question = `${this.params.attemptId}?`;
      const rest = { options: null, context: null, allow: null };
      const asked = { type: 'question.asked', requestId, question, ...rest };
      this.#say(asked);
      if (this.#random.next() < 0.1) this.#say(asked);
    } else {
      this.#say({ type: 'line.malformed', why: 'no JSON' });
      this.#next();
    }
  }

  #finish(): void {
    const drawn = this.#random.next();
    if (drawn < 0.6) {
      if (this.signals.length === 0) this.saidDone = true;
      this.#say({ type: 'result.reported', result: this.params.attemptId });
    } else if (drawn < 0.75) {
      const retryable = this.#random.next() < 0.8;
      this.#say({ type: 'failure.reported', error: 'no', retryable });
    }
    // What has said its last word leaves, mostly.
    if (drawn > 0.1 && drawn < 0.9)
      this.#around.later(Math.floor(this.#random.next() * 50), () => this.end(true));
  }

  hear(line: Line): void {
    const at = this.#around.now();
    this.lines.push({ line, at });
    const wait = this.waits.at(-1);
    if (line.type === 'expert.answered' || line.type === 'human.answered') {
      if (wait !== undefined) wait.to ??= at;
      if (this.isAlive) this.#next();
    }
    if (line.type !== 'checkpoint.requested' || this.#answersIn === Number.POSITIVE_INFINITY)
      return;
    // Also one that answers misses a request now and then.
    if (this.#random.next() < 0.4) return;
    this.#around.later(this.#answersIn, () => {
      if (!this.isAlive) return;
      const checkpoint = {
        status: 'well',
        completed: [],
        remaining: [],
        progressPercent: null,
        data: null,
      };
      const { requestId = null } = line;
      this.answered.push({ requestId, at: this.#around.now() });
      this.#say({ type: 'checkpoint.reported', requestId, checkpoint });
    });
  }

  /** A line of it, which moves the limit of its silence. */
  #say(event: object): void {
    this.spoke.push(this.#around.now());
    this.#around.tell({ type: 'line.seen' });
    this.#around.tell(event);
  }

  signal(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.signals.push({ signal, at: this.#around.now() });
    if (signal === 'SIGKILL') this.end(false);
    else if (this.#heedsIn < Number.POSITIVE_INFINITY)
      this.#around.later(this.#heedsIn, () => this.end(true));
  }

  end(tells: boolean): void {
    if (!this.isAlive) return;
    this.endedAt = this.#around.now();
    if (!tells) return;
    const isClean = this.#random.next() < 0.6;
    const event = { type: 'process.exited', exitCode: 0, signal: null, strayLines: 0 };
    this.#around.tell({ ...event, isEmpty: true, isClean });
  }
}
