/** Starts `recovery-program.ts` in a process of its own, gives it orders, and waits for what it tells. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TellingProcess } from '../kit/telling-process.ts';
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
  readonly record: {
    readonly effects?: readonly unknown[];
    readonly outbox?: readonly unknown[];
    readonly timers?: ReadonlyArray<readonly [name: string, dueAt: number, ...more: unknown[]]>;
  };
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
    await Promise.all(this.#processes.map((one) => one.kill()));
    rmSync(this.#parent, { recursive: true, force: true });
  }

  get #notesFile(): string {
    return join(this.#parent, 'notes');
  }
}

export class RecoveryProcess extends TellingProcess<Told> {
  readonly #node: string;
  #orders = 0;

  constructor(setup: ProgramSetup) {
    super(PROGRAM, [JSON.stringify(setup)]);
    this.#node = setup.nodes[0]?.node ?? '';
  }

  get isHosting(): boolean {
    return this.told.some(({ event }) => event === 'hosts');
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

  async #order(order: Omit<Order, 'id'>): Promise<unknown> {
    this.#orders += 1;
    const id = this.#orders;
    this.say(JSON.stringify({ ...order, id }));
    const told = await this.#until(`the outcome of ${order.what} ${order.address}`, (one) => {
      return one.event === 'obeyed' && one.id === id;
    });
    if (told.code !== undefined) throw Object.assign(new Error(told.code), { code: told.code });
    return told.value;
  }

  #until(what: string, isIt: (told: Told) => boolean): Promise<Told> {
    return this.until(what, () => this.told.find(isIt));
  }
}
