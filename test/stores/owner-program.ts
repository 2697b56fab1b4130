/**
 * A process that wants a directory, for tests: it tells what happens to it on standard output,
 * one JSON text per line, and takes orders on standard input. It ends when its input ends, so
 * that no test leaves it behind.
 *
 *   owner-program.ts ROLE DIRECTORY OPTIONS
 *
 * ROLE is `lock`, `lease`, `idle` (takes the lock and has nothing else to do) or `cluster`
 * (forks two workers that want the lock).
 */

import cluster from 'node:cluster';
import { appendFileSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Logger } from '../../runtime/base/limits.ts';
import { type DirectoryLeaseOptions, directoryLease } from '../../stores/directory/lease.ts';
import { DirectoryLock } from '../../stores/directory/lock.ts';

export interface ProgramOptions extends Omit<DirectoryLeaseOptions, 'clock' | 'logger'> {
  /** Where a holder notes every few milliseconds that it holds. */
  readonly turnsFile?: string;
  /** Give up the rights of root first. */
  readonly asNobody?: boolean;
}

const [role = '', directory = '', optionsText = '{}'] = process.argv.slice(2);
const { turnsFile, asNobody = false, ...options }: ProgramOptions = JSON.parse(optionsText);

const tell = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const said = (level: string) => (fields: object, message: string) =>
  tell({ event: 'log', level, message, ...fields });
const logger: Logger = {
  debug: () => {},
  info: said('info'),
  warn: said('warn'),
  error: said('error'),
};

if (asNobody && process.getuid?.() === 0) process.setuid?.(65_534);
const orders = new Map<string, () => void>([
  ['exit', () => process.exit(0)],
  ['exhaust', exhaust],
]);
if (role === 'lease') lease();
else if (role === 'cluster' && cluster.isPrimary) for (const _ of 'ab') cluster.fork();
else await lock();
if (role !== 'idle') takeOrders();

async function lock(): Promise<void> {
  try {
    const held = await DirectoryLock.acquire(directory, 'store', {
      ...options,
      logger,
      lost: (reason) => tell({ event: 'lost', reason }),
    });
    tell({ event: 'acquired', pid: process.pid });
    orders.set('release', () => {
      held.release();
      tell({ event: 'released' });
    });
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    tell({ event: 'refused', code, message, pid: process.pid });
  }
}

function lease(): void {
  let fence = 0;
  const claim = directoryLease(directory, { ...options, logger }).hold('place', {
    acquired: (acquired) => {
      fence = acquired;
      tell({ event: 'acquired', fence, pid: process.pid });
    },
    standsBy: () => tell({ event: 'stands by' }),
    lost: () => tell({ event: 'lost', isHeld: claim.isHeld() }),
  });
  orders.set('release', () => {
    claim.release();
    tell({ event: 'released' });
  });
  if (turnsFile === undefined) return;
  setInterval(() => {
    if (claim.isHeld()) appendFileSync(turnsFile, `${fence} ${process.pid}\n`);
  }, 5);
}

/** Takes every descriptor that this process may still have. */
function exhaust(): void {
  try {
    for (;;) openSync('/dev/null', 'r');
  } catch (thrown) {
    tell({ event: 'exhausted', code: (thrown as NodeJS.ErrnoException).code });
  }
}

function takeOrders(): void {
  const input = createInterface({ input: process.stdin });
  input.on('line', (order) => orders.get(order)?.());
  input.on('close', () => process.exit(0));
}
