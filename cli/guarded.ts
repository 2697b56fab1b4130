/**
 * Guard around damaged data: runs the program again in a process of its own, which may die of what it reads.
 *
 * LMDB is native code and believes the pages it finds: in a damaged file they can lead it
 * behind the end of memory. Then the child is killed, and its parent says that the data is bad.
 */

import { EXIT, type ExitCode } from './exit.ts';
import { handOn, SIGNAL_EXITS } from './signals.ts';

/** Set for the child, so that it does the work itself. */
const INSIDE = 'ESCAPEMENT_INSIDE';

/** Signals that mean "the program tripped", not "somebody ended it". */
const CRASHES: ReadonlySet<string> = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE']);

export interface ThisProcess {
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** True when the command reads stored data, and this is not the child that does. */
export function isToBeGuarded({ argv, env }: ThisProcess): boolean {
  const [command] = argv.slice(2).filter((argument) => !argument.startsWith('-'));
  return env[INSIDE] === undefined && (command === 'data' || command === 'check-upgrade');
}

/** Resolves with the exit code of the child; one that crashed means bad data. */
export async function runGuarded(
  { execPath, execArgv, argv, env }: ThisProcess,
  complain: (text: string) => void,
): Promise<ExitCode | number> {
  const { spawn } = await import('node:child_process');
  const child = spawn(execPath, [...execArgv, ...argv.slice(1)], {
    stdio: 'inherit',
    env: { ...env, [INSIDE]: '1' },
  });
  handOn(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code !== null) resolve(code);
      else if (signal !== null && !CRASHES.has(signal))
        resolve(SIGNAL_EXITS[signal] ?? EXIT.internal);
      else {
        complain(
          `error: reading the data killed the process that did it (${signal}): the file is damaged. Restore a copy.\n`,
        );
        resolve(EXIT.badData);
      }
    });
  });
}
