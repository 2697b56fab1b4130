/** Starts `recovery-program.ts` in a process of its own, gives it orders, and waits for what it tells. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { compiledProgram } from '../kit/compiled.ts';
import { ROOT } from '../project-files.ts';
import type { Order, ProgramSetup } from './recovery-program.ts';

const PROGRAM = 'test/durability/recovery-program.ts';

interface Told {
  readonly event: 'hosts' | 'stands by' | 'obeyed';
  readonly node?: string;
  readonly fence?: number;
  readonly at?: number;
  readonly id?: number;
  readonly value?: unknown;
  readonly code?: string;
}

/** What an action did, by whom and when. */
export interface Note {
  readonly what: 'ring' | 'beat' | 'run' | 'charge' | 'print';
  readonly pid: number;
  readonly fence: number;
  readonly at: number;
  readonly address?: string;
  readonly effectId?: string;
  readonly job?: string;
  readonly params?: { readonly text: string };
}

export interface ActorSeen<TContext> {
  readonly value: unknown;
  readonly context: TContext;
  readonly record: { readonly effects?: readonly unknown[]; readonly outbox?: readonly unknown[] };
  readonly history: ReadonlyArray<{
    readonly event: string;
    readonly at: number;
    readonly dueAt?: number;
  }>;
}

/** Directories and processes of one story; `clear` leaves nothing of them. */
export class RecoverySite {
  readonly #parent = mkdtempSync(join(tmpdir(), 'escapement-recovery-'));
  readonly #processes: RecoveryProcess[] = [];

  constructor() {
    writeFileSync(this.#notesFile, '');
  }

  /** Nodes of the same directory name stand in for each other, or come one after the other. */
  start(
    ...nodes: ReadonlyArray<Omit<ProgramSetup['nodes'][number], 'directory'>>
  ): RecoveryProcess {
    const placed = nodes.map((node) => {
      const directory = join(this.#parent, node.place);
      mkdirSync(directory, { recursive: true });
      return { ...node, directory };
    });
    const started = new RecoveryProcess({ notesFile: this.#notesFile, nodes: placed });
    this.#processes.push(started);
    return started;
  }

  notes(what?: Note['what']): Note[] {
    const lines = readFileSync(this.#notesFile, 'utf8').split('\n').filter(Boolean);
    const notes = lines.map((line) => JSON.parse(line) as Note);
    return what === undefined ? notes : notes.filter((note) => note.what === what);
  }

  async clear(): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.kill('SIGKILL')));
    rmSync(this.#parent, { recursive: true, force: true });
  }

  get #notesFile(): string {
    return join(this.#parent, 'notes');
  }
}

export class RecoveryProcess {
  readonly exited: Promise<number | string>;
  readonly #child: ChildProcess;
  readonly #told: Told[] = [];
  readonly #node: string;
  readonly #waiting = new Set<() => void>();
  #orders = 0;
  #errors = '';
  #ending: number | string | undefined;

  constructor(setup: ProgramSetup) {
    this.#node = setup.nodes[0]?.node ?? '';
    this.#child = spawn(process.execPath, [compiledProgram(PROGRAM), JSON.stringify(setup)], {
      cwd: ROOT,
    });
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.#told.push(JSON.parse(line));
      this.#look();
    });
    this.#child.stderr?.on('data', (text) => {
      this.#errors += text;
    });
    // An order to a process that has just been killed is no failure of the test.
    this.#child.stdin?.on('error', () => {});
    this.exited = new Promise((resolve) => {
      this.#child.on('exit', (code, signal) => {
        this.#ending = code ?? signal ?? 'unknown';
        resolve(this.#ending);
        this.#look();
      });
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  get isHosting(): boolean {
    return this.#told.some(({ event }) => event === 'hosts');
  }

  /** Resolves when it hosts the place of its node, with the fence and the moment. */
  async hosts(node = this.#node): Promise<{ readonly fence: number; readonly at: number }> {
    const isIt = (told: Told) => told.event === 'hosts' && told.node === node;
    const { fence = 0, at = 0 } = await this.#until('that it hosts', isIt);
    return { fence, at };
  }

  async standsBy(): Promise<void> {
    await this.#until('that it stands by', ({ event }) => event === 'stands by');
  }

  spawn(address: string, input?: unknown, node = this.#node): Promise<unknown> {
    return this.#order({ what: 'spawn', node, address, body: input });
  }

  send(address: string, event: { readonly type: string }, node = this.#node): Promise<unknown> {
    return this.#order({ what: 'send', node, address, body: event });
  }

  async actor<TContext>(address: string, node = this.#node): Promise<ActorSeen<TContext>> {
    return (await this.#order({ what: 'actor', node, address })) as ActorSeen<TContext>;
  }

  finishCharges(): Promise<unknown> {
    return this.#order({ what: 'finishCharges', node: this.#node, address: '' });
  }

  async counts(): Promise<Readonly<Record<string, number>>> {
    const seen = await this.#order({ what: 'node', node: this.#node, address: '' });
    return (seen as { counts: Record<string, number> }).counts;
  }

  async kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    if (signal === 'SIGKILL') await this.exited;
  }

  async #order(order: Omit<Order, 'id'>): Promise<unknown> {
    this.#orders += 1;
    const id = this.#orders;
    this.#child.stdin?.write(`${JSON.stringify({ ...order, id })}\n`);
    const told = await this.#until(`the outcome of ${order.what} ${order.address}`, (one) => {
      return one.event === 'obeyed' && one.id === id;
    });
    if (told.code !== undefined) throw Object.assign(new Error(told.code), { code: told.code });
    return told.value;
  }

  #until(what: string, isIt: (told: Told) => boolean): Promise<Told> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.#told.find(isIt);
        if (found === undefined && this.#ending === undefined) return;
        this.#waiting.delete(look);
        if (found !== undefined) resolve(found);
        else
          reject(new Error(`Ended with ${this.#ending} before it told ${what}: ${this.#errors}`));
      };
      this.#waiting.add(look);
      look();
    });
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}
