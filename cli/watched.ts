/**
 * Watch over modules of the user's: runs a command that loads machines in a process of its own, which may loop
 * for ever in an action, or be ended by what a module does as it is loaded.
 *
 * The process tells again and again that it is alive. Where nothing is heard for long it is killed, and what
 * ended without having said that its work is over was ended by the module.
 */

import { fork } from 'node:child_process';
import { EXIT, type ExitCode } from './exit.ts';
import type { ThisProcess } from './guarded.ts';
import { handOn, SIGNAL_EXITS } from './signals.ts';

/** Set for the process that does the work. */
const INSIDE = 'ESCAPEMENT_WATCHED';
/** Longest silence, in ms, where it is not this long. */
const PATIENCE = 'ESCAPEMENT_PATIENCE_MS';
/** Exploring a large machine takes a minute on a busy processor, in which nothing else is done. */
const PATIENCE_MS = 10 * 60_000;
const BEAT_MS = 500;

const ALIVE = 'escapement alive';
const OVER = 'escapement over';

/** True when the command runs machines of a module, and this is not the process that does. */
export function isToBeWatched({ argv, env }: ThisProcess): boolean {
  const [command] = argv.slice(2).filter((argument) => !argument.startsWith('-'));
  return env[INSIDE] === undefined && (command === 'test' || command === 'lint');
}

/** Resolves with the exit code of the process. */
export function runWatched(
  { execArgv, argv, env }: ThisProcess,
  complain: (text: string) => void,
): Promise<ExitCode | number> {
  const patienceMs = Number(env[PATIENCE] ?? PATIENCE_MS);
  const child = fork(argv[1] as string, argv.slice(2), {
    execArgv: [...execArgv],
    stdio: 'inherit',
    env: { ...env, [INSIDE]: '1' },
  });
  const handedOn = handOn(child);
  let isOver = false;
  let isEndless = false;
  const silent = setTimeout(() => {
    isEndless = true;
    child.kill('SIGKILL');
  }, patienceMs);
  child.on('message', (message) => {
    if (message === OVER) isOver = true;
    silent.refresh();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(silent);
      if (isEndless) {
        complain(
          `error: nothing came of it for ${patienceMs / 1_000} s: an action, a guard, an assignment or the module itself loops for ever.\n`,
        );
        resolve(EXIT.badData);
      } else if (isOver && code !== null) resolve(code);
      else if (handedOn() !== undefined) resolve(SIGNAL_EXITS[handedOn() ?? ''] ?? EXIT.internal);
      else if (code !== null) {
        complain(
          `error: the process ended with ${code} before the work was done: the module ends it, as with process.exit().\n`,
        );
        resolve(EXIT.badData);
      } else resolve(SIGNAL_EXITS[signal ?? ''] ?? EXIT.internal);
    });
  });
}

interface Beating {
  readonly env: Readonly<Record<string, string | undefined>>;
  send?(message: string): boolean;
  on(event: 'disconnect', hear: () => void): unknown;
  exit(code: number): never;
}

/**
 * Tells the process that watches this one that it is alive; gives what tells it that the work is over. Nobody is
 * left to work for where that process is gone.
 */
export function beat(host: Beating): () => void {
  if (host.env[INSIDE] === undefined || host.send === undefined) return () => {};
  setInterval(() => host.send?.(ALIVE), BEAT_MS).unref();
  host.on('disconnect', () => host.exit(EXIT.terminated));
  return () => void host.send?.(OVER);
}
