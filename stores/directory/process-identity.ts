/**
 * Identity of a process: enough to tell later, from another process, whether it still lives.
 *
 * A pid alone is not enough: pids are used again, and count from the start in every container. On
 * Linux the start time of the process, the boot and the pid namespace are compared as well; `gone`
 * is said only of a process of this very namespace, and `killVerified` kills only what it could
 * verify. Elsewhere a pid is all there is, so nothing is ever killed there.
 *
 * The one file of the stores that touches `process`.
 */

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, platform } from 'node:os';

export interface ProcessIdentity {
  readonly pid: number;
  /** Start time, in clock ticks since boot; tells it from a later process with its pid. */
  readonly startTicks?: string | undefined;
  readonly host: string;
  readonly bootId?: string | undefined;
  readonly pidNamespace?: string | undefined;
  readonly netNamespace?: string | undefined;
}

/** `unknown`: a process of another machine, boot or container, which cannot be looked at. */
export type Liveness = 'alive' | 'gone' | 'unknown';

export function thisProcess(): ProcessIdentity {
  return {
    pid: process.pid,
    startTicks: readStat(process.pid)?.startTicks,
    host: hostname(),
    bootId: textOrNothing(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: textOrNothing(() => readlinkSync('/proc/self/ns/pid')),
    netNamespace: textOrNothing(() => readlinkSync('/proc/self/ns/net')),
  };
}

export function isThisProcess(other: ProcessIdentity): boolean {
  const own = thisProcess();
  return isNeighbour(other, own) && other.pid === own.pid && other.startTicks === own.startTicks;
}

export function livenessOf(other: ProcessIdentity): Liveness {
  if (!isNeighbour(other, thisProcess())) return 'unknown';
  const stat = readStat(other.pid);
  if (stat !== undefined && other.startTicks !== undefined) {
    // A zombie has closed all it had and only waits to be counted.
    return stat.startTicks === other.startTicks && !stat.isZombie ? 'alive' : 'gone';
  }
  try {
    process.kill(other.pid, 0);
    return 'alive';
  } catch (thrown) {
    // Another user's process may be hidden, and may not be signalled; it is there all the same.
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'alive';
  }
}

/**
 * Ends exactly the process that `other` names with SIGKILL, which works on a stopped one too.
 * Looks at it right before; never kills this process, process 1, or one it cannot verify.
 */
export function killVerified(other: ProcessIdentity): 'killed' | 'gone' | 'refused' {
  if (other.pid <= 1 || other.pid === process.pid) return 'refused';
  if (other.startTicks === undefined || other.pidNamespace === undefined) return 'refused';
  const liveness = livenessOf(other);
  if (liveness === 'gone') return 'gone';
  if (liveness === 'unknown' || readStat(other.pid)?.startTicks !== other.startTicks) {
    return 'refused';
  }
  try {
    process.kill(other.pid, 'SIGKILL');
    return 'killed';
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'refused';
  }
}

/** Pids mean the same to both. Without a boot id there are no containers that we know of. */
function isNeighbour(other: ProcessIdentity, own: ProcessIdentity): boolean {
  return (
    other.host === own.host &&
    other.bootId === own.bootId &&
    other.pidNamespace === own.pidNamespace
  );
}

interface ProcessStat {
  readonly startTicks: string;
  readonly isZombie: boolean;
}

/** Undefined when there is no such process, when it is hidden from us, and off Linux. */
function readStat(pid: number): ProcessStat | undefined {
  if (platform() !== 'linux') return undefined;
  const text = textOrNothing(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  // The second field is a name in brackets, with any characters; the third follows the last one.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const [state, startTicks] = [fields[0], fields[19]];
  if (state === undefined || startTicks === undefined) return undefined;
  return { startTicks, isZombie: state === 'Z' || state === 'X' };
}

function textOrNothing(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
