/**
 * Claim of a directory by a process that becomes its owner: the socket first, then the owner file.
 *
 * Guarantees: among processes that share a network namespace the socket alone decides. Others
 * (containers that share a volume) are known by their file only: one whose beats go on is
 * respected, one that is gone or silent for its lease time is replaced. A directory that could not
 * be claimed is left as it was found.
 */

import { excerpt, RuntimeError } from '../../runtime/base/errors.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import type { DataDirectory } from './data-directory.ts';
import { OwnerFile, type OwnerRecord, type OwnerSighting, readOwner } from './owner-file.ts';
import { OwnerSilence } from './owner-silence.ts';
import { isThisProcess, livenessOf } from './process-identity.ts';
import { DirectorySocket, socketNameOf } from './socket.ts';

export interface Claim {
  readonly socket: DirectorySocket;
  readonly file: OwnerFile;
}

export interface ClaimSetup {
  readonly record: OwnerRecord;
  readonly clock: Clock;
  /**
   * Asked about an owner that lives in this namespace and gives no sign: true when its end has
   * been seen to. Without it such an owner is respected.
   */
  readonly silent?: ((owner: OwnerRecord) => boolean) | undefined;
}

/** Beats within one lease time. */
export const BEATS_PER_LEASE = 3;
/** Every round ends because somebody else was faster; that is not for ever. */
const ROUNDS_MAX = 10;
const LOOK_MIN_MS = 10;
const LOOKS_PER_LEASE = 40;

/** @throws {RuntimeError} STORE_LOCKED @throws the system's error when the lock cannot be made. */
export async function claimDirectory(directory: DataDirectory, setup: ClaimSetup): Promise<Claim> {
  const socket = await DirectorySocket.bind(socketNameOf(directory.identity));
  if (socket === undefined) throw locked(directory, readOwner(directory.path)?.record);
  try {
    const file = await claimFile(directory, setup);
    file.sweep();
    return { socket, file };
  } catch (thrown) {
    socket.close();
    throw thrown;
  }
}

/** Error for the process that comes second. */
export function locked(directory: DataDirectory, owner: OwnerRecord | undefined): RuntimeError {
  return new RuntimeError(
    'STORE_LOCKED',
    `The directory ${JSON.stringify(directory.path)} is in use by ${described(owner)}. ` +
      'Stop that process, or use another directory; to wait for it, use directoryLease.',
  );
}

async function claimFile(directory: DataDirectory, setup: ClaimSetup): Promise<OwnerFile> {
  const { record } = setup;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const found = readOwner(directory.path);
    if (found === undefined) {
      const file = await OwnerFile.create(directory.path, record);
      if (file !== undefined) return file;
      continue;
    }
    const fate = await fateOf(found, directory, setup);
    if (fate === 'changed') continue;
    if (fate === 'silent' && found.record !== undefined && livenessOf(found.record) === 'alive') {
      if (setup.silent?.(found.record) !== true) throw locked(directory, found.record);
      await pause(setup.clock, lookEveryMs(record.leaseMs));
      continue;
    }
    const file = await OwnerFile.replace(directory.path, record, found.mark);
    if (file === undefined) continue;
    if (fate === 'gone' || (await isSettled(file, setup))) return file;
    file.abandon();
  }
  throw locked(directory, readOwner(directory.path)?.record);
}

/**
 * Finds the fate of an owner whose socket is not there.
 *
 * @throws {RuntimeError} STORE_LOCKED as soon as it beats.
 */
async function fateOf(
  found: OwnerSighting,
  directory: DataDirectory,
  { clock, record }: ClaimSetup,
): Promise<'gone' | 'silent' | 'changed'> {
  const leaseMs = Math.max(record.leaseMs, found.record?.leaseMs ?? 0);
  const everyMs = lookEveryMs(record.leaseMs);
  const silence = new OwnerSilence(2 * everyMs);
  for (let now: OwnerSighting | undefined = found; ; now = readOwner(directory.path)) {
    if (now === undefined) return 'changed';
    if (now.mark !== found.mark) {
      if (now.record?.id !== found.record?.id) return 'changed';
      throw locked(directory, now.record);
    }
    // A file of our own was left behind: without the socket nobody here owns the directory.
    if (now.record !== undefined && isThisProcess(now.record)) return 'gone';
    if (now.record !== undefined && livenessOf(now.record) === 'gone') return 'gone';
    if (silence.look(now, clock.now()) >= leaseMs) return 'silent';
    await pause(clock, everyMs);
  }
}

/** Two from different namespaces may have judged the same owner silent: the last writer has it. */
async function isSettled(file: OwnerFile, { clock, record }: ClaimSetup): Promise<boolean> {
  await pause(clock, Math.ceil(record.leaseMs / BEATS_PER_LEASE));
  return file.beat();
}

function lookEveryMs(leaseMs: number): number {
  return Math.max(LOOK_MIN_MS, Math.ceil(leaseMs / LOOKS_PER_LEASE));
}

function pause(clock: Clock, durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.schedule(clock.now() + durationMs, resolve);
  });
}

function described(owner: OwnerRecord | undefined): string {
  if (owner === undefined) return 'another process, which has not said who it is';
  const since = new Intl.DateTimeFormat('sv-SE', {
    dateStyle: 'short',
    timeStyle: 'medium',
    timeZone: 'UTC',
  }).format(owner.since);
  const node = owner.node === undefined ? '' : `node ${excerpt(owner.node)}, `;
  const who = isThisProcess(owner) ? 'this process itself' : `process ${owner.pid}`;
  return `${node}${who} on host ${excerpt(owner.host)}, since ${since} UTC`;
}
