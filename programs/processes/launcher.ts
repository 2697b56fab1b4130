/**
 * Launcher: starts many commands through a process of its own, whose little memory makes a fork cheap.
 *
 * A fork costs time by the memory of the process that forks, and that process stands still for it. So from some
 * commands on they are started by a helper process (launcher/program.ts), and this one only writes and reads a few
 * bytes. Until the helper is up, and where it cannot be had, commands are started here. A helper that is gone takes
 * with it what is known of its commands: they are lost, and the next one comes by itself.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
// Where this process's own program is: the helper is the same one.
import { execPath } from 'node:process';
import {
  type Child,
  type ChildListener,
  type Launch,
  type LaunchSpec,
  launchHere,
} from './child.ts';
import {
  type Exited,
  type Failed,
  FRAME_HEAD_BYTES,
  FRAME_KINDS,
  launcherScript,
} from './launcher/program.ts';

/** Commands after which a helper begins: for fewer it costs more than it saves. */
const COMMANDS_BEFORE = 8;
/** Helpers that came to nothing, after which there is no other. */
const FAILURES_MAX = 3;
const IS_NODE = /(^|\/)node[\d.-]*$/;

export class Launcher {
  readonly #commandsBefore: number;
  readonly #program: string;
  #launched = 0;
  #failures = 0;
  #helper: Helper | undefined;
  #isClosed = false;

  /**
   * `commandsBefore`: commands that are started by this process itself. Default 8. `program`: the helper's Node. Default:
   * that of this process. Any other program, as one that has its application in it, is not run in its place.
   */
  constructor(commandsBefore = COMMANDS_BEFORE, program = execPath) {
    this.#commandsBefore = commandsBefore;
    this.#program = program;
  }

  readonly launch: Launch = (spec, listener) => {
    this.#launched += 1;
    if (this.#launched > this.#commandsBefore) this.#begin(spec);
    if (this.#helper?.isReady !== true) return launchHere(spec, listener);
    return this.#helper.start(spec, listener);
  };

  /** True while a start costs this process no fork. */
  get isReady(): boolean {
    return this.#helper?.isReady === true;
  }

  /** Pid of the helper, where there is one. */
  get helper(): number | undefined {
    return this.#helper?.pid;
  }

  /** Ends the helper; commands that are still at work are lost. */
  close(): void {
    this.#isClosed = true;
    this.#helper?.close();
  }

  #begin({ env }: LaunchSpec): void {
    if (this.#helper !== undefined || this.#isClosed || this.#failures >= FAILURES_MAX) return;
    if (!IS_NODE.test(this.#program)) return;
    this.#helper = new Helper(this.#program, env, (wasReady) => {
      this.#helper = undefined;
      this.#failures = wasReady ? 0 : this.#failures + 1;
    });
  }
}

interface Followed {
  readonly listener: ChildListener;
  isStarted: boolean;
  bytesRead: number;
}

class Helper {
  isReady = false;
  readonly #process: ChildProcess;
  readonly #base: Readonly<Record<string, string>>;
  readonly #children = new Map<number, Followed>();
  #lastId = 0;
  #rest: Buffer = Buffer.alloc(0);
  #isGone = false;

  /** `gone` is called once, also when it could not be started at all. */
  constructor(
    program: string,
    base: Readonly<Record<string, string>>,
    gone: (wasReady: boolean) => void,
  ) {
    this.#base = base;
    const process = spawn(program, ['-e', launcherScript()], {
      cwd: '/',
      // Settings of this process, a debugger for one, are not the helper's.
      env: {},
      // A signal from the terminal is for this process: it says what is to be stopped.
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    this.#process = process;
    const lose = (): void => {
      if (this.#isGone) return;
      this.#isGone = true;
      const children = [...this.#children.values()];
      this.#children.clear();
      gone(this.isReady);
      for (const { listener } of children) listener.lost();
    };
    process.once('error', lose);
    process.once('close', lose);
    process.stdin?.on('error', () => {});
    process.stdout?.on('error', () => {});
    process.stdout?.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#write({ base });
    this.#holdWhileNeeded();
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  start({ argv, cwd, env }: LaunchSpec, listener: ChildListener): Child {
    this.#lastId += 1;
    const id = this.#lastId;
    const followed: Followed = { listener, isStarted: false, bytesRead: 0 };
    this.#children.set(id, followed);
    this.#holdWhileNeeded();
    this.#write({ id, argv, cwd, ...differences(this.#base, env) });
    return {
      stdin: null,
      get bytesRead() {
        return followed.bytesRead;
      },
      pause: () => {},
      resume: () => {},
      release: () => {
        if (this.#children.has(id)) this.#write({ release: id });
      },
    };
  }

  close(): void {
    this.#process.stdin?.end();
  }

  #write(line: object): void {
    this.#process.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  /** This process may end while no command is at work. */
  #holdWhileNeeded(): void {
    const { stdin, stdout } = this.#process;
    for (const each of [this.#process, stdin as Socket | null, stdout as Socket | null])
      if (this.#children.size > 0) each?.ref();
      else each?.unref();
  }

  #take(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (bytes.length - at >= FRAME_HEAD_BYTES) {
      const end = at + FRAME_HEAD_BYTES + bytes.readUInt32LE(at + 5);
      if (end > bytes.length) break;
      const kind = FRAME_KINDS[bytes[at] ?? -1];
      this.#tell(kind, bytes.readUInt32LE(at + 1), bytes.subarray(at + FRAME_HEAD_BYTES, end));
      at = end;
    }
    this.#rest = bytes.subarray(at);
  }

  #tell(kind: (typeof FRAME_KINDS)[number] | undefined, id: number, rest: Buffer): void {
    if (kind === 'ready') this.isReady = true;
    const followed = this.#children.get(id);
    if (followed === undefined) return;
    const { listener } = followed;
    if (kind === 'started') started(followed, rest.readUInt32LE(0));
    else if (kind === 'out' || kind === 'err') {
      followed.bytesRead += rest.length;
      listener.output(kind, rest);
    } else if (kind === 'exited') {
      const { pid, code, signal, isClosed } = JSON.parse(rest.toString()) as Exited;
      started(followed, pid);
      if (isClosed) this.#forget(id);
      listener.exited(code, signal);
      if (isClosed) listener.closed();
    } else if (kind === 'closed') {
      this.#forget(id);
      listener.closed();
    } else if (kind === 'failed') {
      this.#forget(id);
      const { message, code } = JSON.parse(rest.toString()) as Failed;
      listener.failed(Object.assign(new Error(message), { code }));
    }
  }

  #forget(id: number): void {
    this.#children.delete(id);
    this.#holdWhileNeeded();
  }
}

function started(followed: Followed, pid: number): void {
  if (followed.isStarted) return;
  followed.isStarted = true;
  followed.listener.started(pid);
}

/** What is to be changed in one environment so that it becomes the other. */
function differences(
  base: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): { readonly env: Record<string, string>; readonly unset: readonly string[] } {
  const env: Record<string, string> = {};
  for (const name of Object.keys(wanted)) {
    const value = wanted[name];
    if (value !== undefined && value !== base[name]) env[name] = value;
  }
  return { env, unset: Object.keys(base).filter((name) => wanted[name] === undefined) };
}
