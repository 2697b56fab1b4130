/**
 * Exit codes of all commands, and which error ends with which.
 *
 * A command throws, or says that what it checked did not hold; nobody but cli/main.ts
 * ends the process. Codes follow sysexits where there is one for the purpose.
 */

import { type ErrorCode, messageOf, RuntimeError } from '../runtime/base/errors.ts';

export const EXIT = {
  done: 0,
  /** Broken: what was checked did not hold. */
  broken: 1,
  /** Below: a share is less than was asked for. */
  below: 2,
  /** Done, but for items that failed. */
  partial: 3,
  /** Paused, and not to wait for being resumed. */
  paused: 4,
  usage: 64,
  badData: 65,
  unavailable: 69,
  internal: 70,
  locked: 73,
  io: 74,
  noPermission: 77,
  configuration: 78,
  /** Ended by SIGINT, by SIGTERM. */
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that a command can put into words of its own. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Errors of the runtime that are not about bad data. */
const RUNTIME_EXITS: Readonly<Partial<Record<ErrorCode, ExitCode>>> = {
  AGENT_PLAN_INVALID: EXIT.configuration,
  PACKAGE_MISSING: EXIT.unavailable,
  PLATFORM_UNSUPPORTED: EXIT.unavailable,
  STORE_FAILED: EXIT.io,
  STORE_LOCKED: EXIT.locked,
  STORE_UNAVAILABLE: EXIT.unavailable,
  STORE_UNWRITABLE: EXIT.noPermission,
  WORKFLOW_INVALID: EXIT.configuration,
  XSTATE_UNSUPPORTED: EXIT.unavailable,
  INTERNAL: EXIT.internal,
};

/** Codes of the operating system. */
const SYSTEM_EXITS: Readonly<Record<string, ExitCode>> = {
  EACCES: EXIT.noPermission,
  EEXIST: EXIT.locked,
  EPERM: EXIT.noPermission,
  EISDIR: EXIT.badData,
  ELOOP: EXIT.badData,
  ENAMETOOLONG: EXIT.badData,
  ENOENT: EXIT.badData,
  ENOTDIR: EXIT.badData,
  EDQUOT: EXIT.io,
  EIO: EXIT.io,
  EMFILE: EXIT.io,
  ENFILE: EXIT.io,
  ENOSPC: EXIT.io,
  EROFS: EXIT.io,
};

/** Reasons that people can do something about. */
const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use it',
  EISDIR: 'it is a directory',
  EMFILE:
    'this process may open no more files; raise the limit: ulimit -n, or LimitNOFILE of its service',
  ENOENT: 'there is no such file or directory',
  ENOTDIR: 'a part of the path is no directory',
};

export interface Failure {
  readonly exitCode: ExitCode;
  /** For a person, not escaped yet. */
  readonly message: string;
}

export function failureOf(thrown: unknown): Failure {
  const message = messageOf(thrown);
  if (thrown instanceof CommandFailure) return { exitCode: thrown.exitCode, message };
  if (thrown instanceof RuntimeError)
    return { exitCode: RUNTIME_EXITS[thrown.code] ?? EXIT.badData, message };
  const { code } = (thrown ?? {}) as { code?: unknown };
  const exitCode = typeof code === 'string' ? SYSTEM_EXITS[code] : undefined;
  if (exitCode !== undefined) return { exitCode, message: systemText(thrown, message) };
  return {
    exitCode: EXIT.internal,
    message: `Internal error: ${message}\nThis is a mistake in Escapement. Please report it where you found it, with this text and what "escapement version" prints.`,
  };
}

/** The path and the reason; in the system's own words where nobody has better ones. */
function systemText(thrown: unknown, message: string): string {
  const { code, path } = thrown as { code: string; path?: unknown };
  const reason = SYSTEM_REASONS[code];
  return typeof path !== 'string' || reason === undefined ? message : `${path}: ${reason}.`;
}
