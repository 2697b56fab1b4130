/**
 * Demo: a cluster of real processes, a load of jobs, faults, and a judge that looks whether every
 * job ends as it must.
 *
 * Guarantees: it ends no process but those it started, and leaves none behind: they end in order when
 * it is told to quit, at once when it is told again, and by themselves should it be killed. What
 * is stored stays, and the next run on the same folder goes on with it.
 */

import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandFailure, EXIT } from '../cli/exit.ts';
import { type InspectorListener, listenFor } from '../inspector/listen.ts';
import { SILENT_LOGGER } from '../runtime/base/limits.ts';
import { SeededRandom } from '../simulator/world.ts';
import { Cluster } from './cluster.ts';
import { DataFolder } from './data-folder.ts';
import { Faults } from './faults.ts';
import { FaultsByHand } from './faults-by-hand.ts';
import { GateApi } from './gate-api.ts';
import { type Happening, Happenings } from './happenings.ts';
import { JobBook } from './job-book.ts';
import { JOB_KINDS, type JobKind } from './job-kinds.ts';
import { Load } from './load.ts';
import type { LogRecord, NodeExit, NodeProcess } from './node-process.ts';
import { pageHandler } from './page.ts';
import { type Phase, type Scene, sceneOf } from './scene.ts';
import { Story } from './story.ts';
import { type Summary, summaryOf, type UnexpectedExit } from './summary.ts';
import { type PlannedFault, timetable } from './timetable.ts';
import { DATACENTERS } from './topology.ts';

export interface DemoOptions {
  readonly directory: string;
  readonly isFresh: boolean;
  readonly seed: number;
  /** Jobs per second. */
  readonly rate: number;
  /** Left out: until it is told to quit. */
  readonly durationMs?: number;
  /** Faults by the timetable. */
  readonly hasFaults: boolean;
  /** Port at which the gate listens if it is free; 0: any. */
  readonly port: number;
  /** Port of the page, or the next free one; 0: any. Left out: there is no page. */
  readonly pagePort?: number;
  /** Command that starts the command line: the arguments of Node before `start`. */
  readonly command: readonly string[];
  /** The module of handlers. */
  readonly handlers: string;
  readonly onHappening?: (happening: Happening) => void;
}

const STORY_KIND = JOB_KINDS.find(({ name }) => name === 'story') as JobKind;
const START_LIMIT_MS = 60_000;
/** The longest that a job may take to end after the last fault; in a quiet run it is a few seconds. */
const SETTLE_LIMIT_MS = 60_000;

export class Demo {
  readonly faults: Faults;
  /** Faults that keys and the page make. */
  readonly byHand: FaultsByHand;
  readonly #options: DemoOptions;
  readonly #folder: DataFolder;
  readonly #cluster: Cluster;
  readonly #happenings: Happenings;
  readonly #book: JobBook;
  readonly #api: GateApi;
  readonly #load: Load;
  readonly #random: SeededRandom;
  readonly #unexpectedExits: UnexpectedExit[] = [];
  readonly #openedAt = Date.now();
  readonly #quit = new AbortController();
  readonly #story: Story;
  #page: InspectorListener | undefined;
  #phase: Phase = 'starting';
  #failure: Error | undefined;
  /** Somebody waits for all to lead. */
  #onLead: () => void = () => {};

  /** @throws {RuntimeError} @throws {CommandFailure} */
  static async open(options: DemoOptions): Promise<Demo> {
    const folder = await DataFolder.open(options.directory, { isFresh: options.isFresh });
    const { command, handlers } = options;
    const port = (await isFree(options.port)) ? options.port : 0;
    const heard: { by?: Demo } = {};
    const cluster = await Cluster.open({
      ...{ folder, command, handlers, port },
      onRecord: (node, record) => heard.by?.heard(node, record),
      onExit: (node, exit) => heard.by?.exited(node, exit),
      onGivenUp: (node, exit) => heard.by?.gaveUp(node, exit),
    });
    const demo = new Demo(options, folder, cluster);
    heard.by = demo;
    if (options.pagePort !== undefined) await demo.#openPage(options.pagePort);
    return demo;
  }

  private constructor(options: DemoOptions, folder: DataFolder, cluster: Cluster) {
    this.#options = options;
    this.#folder = folder;
    this.#cluster = cluster;
    this.#happenings = new Happenings(options.onHappening);
    this.#book = new JobBook(folder.run);
    this.#random = new SeededRandom(options.seed);
    this.#api = new GateApi(() => cluster.gate.url);
    this.faults = new Faults(cluster, this.#happenings);
    this.byHand = new FaultsByHand(this.faults, this.#happenings);
    this.#load = new Load({
      api: this.#api,
      book: this.#book,
      random: this.#random.stream('load'),
      run: folder.run,
      rate: options.rate,
      faults: () => this.faults.all,
    });
    this.#story = new Story({
      faults: this.faults,
      hasFaults: options.hasFaults,
      submit: () => this.#load.submitOne(STORY_KIND),
    });
  }

  /** Address of the page. */
  get pageUrl(): string | undefined {
    return this.#page === undefined ? undefined : `${this.#page.url}/`;
  }

  get scene(): Scene {
    const at = {
      ...{ phase: this.#phase, startedAt: this.#openedAt, now: Date.now() },
      page: this.pageUrl,
    };
    return sceneOf(at, this.#cluster, this.#book, this.#happenings.all);
  }

  /** Runs all of it. @throws {CommandFailure} when a node cannot be started. */
  async run(): Promise<Summary> {
    let startedAt: number | undefined;
    let finishedAt: number | undefined;
    try {
      this.#cluster.start();
      await this.#allLead();
      if (!this.#isQuitting) {
        startedAt = Date.now();
        await this.#runLoad();
        finishedAt = Date.now();
        this.faults.stop();
        if (!this.#isQuitting) await this.#settle();
      }
    } finally {
      this.#phase = 'stopping';
      this.#story.stop();
      this.faults.stop();
      await this.#page?.close();
      await this.#load.stop();
      // A gate that finishes waits for clients that are still connected.
      this.#api.close();
      await this.#cluster.stop();
      await this.#cluster.close();
      this.#folder.release();
    }
    if (this.#failure !== undefined) throw this.#failure;
    return summaryOf({
      ...{ seed: this.#options.seed, run: this.#folder.run, book: this.#book, startedAt },
      finishedAt: finishedAt ?? Date.now(),
      faults: this.faults.all,
      takeoversMs: this.#happenings.takeoversMs,
      unexpectedExits: this.#unexpectedExits,
    });
  }

  /** Ends all of it in order. */
  quit(): void {
    if (this.#isQuitting) return;
    this.#happenings.say('plain', 'all nodes are told to finish');
    this.#quit.abort();
  }

  /** Ends all of it at once; `run` then comes to its end too. */
  killAll(): Promise<void> {
    this.#quit.abort();
    return this.#cluster.killAll();
  }

  heard(node: NodeProcess, record: LogRecord): void {
    this.#happenings.heard(node, record);
    this.#story.heard(record);
    if (record.event === 'node.hosting') this.#onLead();
    const isGate = node === this.#cluster.gate;
    if (isGate && record.event === 'job.ended') this.#load.heardOf(String(record.jobId));
  }

  exited(node: NodeProcess, exit: NodeExit): void {
    this.#happenings.exited(node, exit);
    // What a demo that was killed has left behind ends soon; until then it is tried again.
    if (!exit.isUnexpected || (exit.isLocked && this.#phase === 'starting')) return;
    const { how, complaint } = exit;
    this.#unexpectedExits.push({ node: node.plan.name, how, complaint: complaint.trim() });
    // A node that never came up will not come up the next time either.
    if (this.#phase === 'starting') this.gaveUp(node, exit);
  }

  gaveUp({ plan }: NodeProcess, { how, complaint }: NodeExit): void {
    const what = `Node ${plan.name} does not run: ${how}. ${complaint.trim()}`;
    this.#failure ??= new CommandFailure(EXIT.broken, what.trim());
    this.#quit.abort();
  }

  async #openPage(port: number): Promise<void> {
    const handler = pageHandler({
      gateUrl: () => this.#cluster.gate.url,
      opened: () => this.#phase === 'running' && this.#story.begin(),
      start: () => {
        const { address } = this.#story;
        return address && `#/actor/${encodeURIComponent(address)}`;
      },
      fault: (name) => this.byHand.make(name),
    });
    this.#page = await listenFor(handler, { port }, SILENT_LOGGER);
  }

  get #isQuitting(): boolean {
    return this.#quit.signal.aborted;
  }

  async #allLead(): Promise<void> {
    const isReady = (): boolean =>
      this.#cluster.gate.fence !== undefined &&
      DATACENTERS.every((datacenter) => this.#cluster.leaderOf(datacenter) !== undefined);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        const what = `The nodes did not come up within ${START_LIMIT_MS / 1_000} s.`;
        this.#failure ??= new CommandFailure(EXIT.broken, what);
        this.#quit.abort();
      }, START_LIMIT_MS);
      const over = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.#onLead = () => isReady() && over();
      this.#quit.signal.addEventListener('abort', over, { once: true });
    });
  }

  async #runLoad(): Promise<void> {
    const { durationMs, hasFaults } = this.#options;
    this.#phase = 'running';
    this.#load.start(durationMs);
    const faults = hasFaults ? this.#makeFaults() : Promise.resolve();
    await this.#sleep(durationMs ?? 2_147_483_647);
    await faults;
  }

  async #makeFaults(): Promise<void> {
    const startedAt = Date.now();
    for (const planned of timetable(this.#random.stream('faults'), this.#options.durationMs)) {
      await this.#sleep(planned.atMs - (Date.now() - startedAt));
      if (this.#isQuitting) return;
      this.#make(planned);
    }
  }

  #make({ kind, datacenter, lengthMs }: PlannedFault): void {
    if (kind === 'workerPaused') this.faults.pauseWorker(datacenter, lengthMs);
    else if (kind === 'managerKilled') this.faults.killLeader(datacenter, lengthMs);
    else if (kind === 'gateRestarted') this.faults.restartGate();
    else this.faults.cutOffDatacenter(datacenter, lengthMs);
  }

  async #settle(): Promise<void> {
    this.#phase = 'settling';
    const quit = this.#sleep(2_147_483_647);
    await Promise.race([this.#load.settle(SETTLE_LIMIT_MS), quit]);
    if (!this.#isQuitting) await Promise.race([this.#load.compare(), quit]);
  }

  /** Ends early when it is told to quit. */
  async #sleep(ms: number): Promise<void> {
    const { signal } = this.#quit;
    await sleep(Math.max(0, ms), undefined, { signal, ref: true }).catch(() => {});
  }
}

/** Nothing listens there now. 0 is always free. */
function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
