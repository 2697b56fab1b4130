/**
 * Failures between a command and a node, in words, with the exit code for each.
 *
 *   69  the node cannot be reached, is not ready, is overloaded, or is no node of Escapement
 *   77  it does not know the token, or the token may not do this
 *   65  it refuses what it was sent, or has another job of that name
 *    1  it does not have what was asked for
 *
 * Guarantees: a refusal is told with the node's own words and code where it has said any.
 */

import { messageOf } from '../../runtime/base/errors.ts';
import { CommandFailure, EXIT, type ExitCode } from '../exit.ts';

interface Said {
  readonly status: number;
  readonly code: string | undefined;
  readonly body: unknown;
  readonly retryAfterMs?: number | undefined;
}

/** A refusal of a node. */
export class Refusal extends CommandFailure {
  /** Status of HTTP. */
  readonly status: number;
  /** The node's own, such as `conflict`; undefined where something else has answered. */
  readonly code: string | undefined;
  /** Body of the answer. */
  readonly body: unknown;
  /** Time after which the node wants to be asked again, where it has said that. */
  readonly retryAfterMs: number | undefined;

  constructor(exitCode: ExitCode, message: string, said: Said) {
    super(exitCode, message);
    this.status = said.status;
    this.code = said.code;
    this.body = said.body;
    this.retryAfterMs = said.retryAfterMs;
  }

  /** The same request may do better in a while. */
  get isPassing(): boolean {
    return this.status === 429 || this.status === 408 || this.status >= 500;
  }
}

/** The node was not reached, or lost on the way: nobody knows whether it has done what it was asked. */
export class Unreachable extends CommandFailure {}

/** Of a question that a directory answers too: where no node is, it says so. */
export async function orFrom<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (thrown) {
    if (!(thrown instanceof Unreachable)) throw thrown;
    const what = `${thrown.message} A data directory needs no node: name it with --from.`;
    throw new Unreachable(thrown.exitCode, what, { cause: thrown.cause });
  }
}

const STATUS_EXITS: Readonly<Record<number, ExitCode>> = {
  400: EXIT.badData,
  401: EXIT.noPermission,
  403: EXIT.noPermission,
  404: EXIT.broken,
  409: EXIT.badData,
  413: EXIT.badData,
  415: EXIT.badData,
  421: EXIT.noPermission,
  422: EXIT.badData,
};

/** Codes for which the node's own word says more than the status. */
const CODE_EXITS: Readonly<Record<string, ExitCode>> = {
  alreadyFinal: EXIT.broken,
  alreadyReported: EXIT.broken,
  stillRefused: EXIT.broken,
};

const HINTS: Readonly<Record<number, string>> = {
  401: 'Say who you are with ESCAPEMENT_TOKEN or --token-file.',
  403: 'The role of your token may not do this.',
  421: 'The node does not know itself by that name; it is told its names in "hosts".',
  429: 'Too many requests; wait a moment.',
};

interface ErrorBody {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly field?: unknown;
}

/** `body` is undefined where the answer was no JSON; `retryAfter` is the header of that name. */
export function refusalOf(
  url: URL,
  status: number,
  body: unknown,
  retryAfter: string | undefined,
): Refusal {
  const { error } = (body ?? {}) as { error?: ErrorBody };
  const code = textOf(error?.code);
  if (code === undefined) return stranger(url, status, body);
  const field = textOf(error?.field);
  const said = textOf(error?.message) ?? code;
  // Some say by themselves what it is about.
  const what = field === undefined || said.startsWith(field) ? said : `${field}: ${said}`;
  const hint = HINTS[status];
  const message = `${what}${/[.?!]$/.test(what) ? '' : '.'} (${status} ${code})`;
  const exitCode = CODE_EXITS[code] ?? STATUS_EXITS[status] ?? EXIT.unavailable;
  const told = hint === undefined ? message : `${message}\n${hint}`;
  return new Refusal(exitCode, told, { status, code, body, retryAfterMs: msOf(retryAfter) });
}

/** Whole seconds; nodes of Escapement name no dates. */
function msOf(retryAfter = ''): number | undefined {
  return /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : undefined;
}

function stranger(url: URL, status: number, body: unknown): Refusal {
  const to = status >= 300 && status < 400 ? ', and sends on to another address' : '';
  const what = `${url.href} answers with ${status}${to}: that is no node of Escapement with an API. Say where one is with --url or ESCAPEMENT_URL.`;
  return new Refusal(EXIT.unavailable, what, { status, code: undefined, body });
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  EAI_AGAIN: 'its name cannot be looked up now',
  ENOTFOUND: 'nobody has that name',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it did not answer in time',
  EPIPE: 'the connection was cut',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by somebody unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by somebody unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by somebody unknown',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: 'it wants to see a certificate',
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: 'it does not trust the certificate that it was shown',
  ERR_OSSL_PEM_NO_START_LINE: 'the certificate to show, or its key, is no PEM',
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key is not that of the certificate to show',
  EPROTO: 'it does not speak TLS as asked; look at http and https',
};

export function unreachable(url: URL, thrown: unknown): CommandFailure {
  if (thrown instanceof CommandFailure) return thrown;
  const code = textOf((thrown as { code?: unknown } | undefined)?.code);
  const reason = reasonOf(code) ?? messageOf(thrown);
  const advice = adviceOf(url, code);
  return new Unreachable(
    EXIT.unavailable,
    `${url.href} cannot be reached: ${reason}.${advice === '' ? '' : ` ${advice}`}`,
    { cause: thrown },
  );
}

function reasonOf(code: string | undefined): string | undefined {
  if (code === undefined) return undefined;
  if (code.startsWith('HPE_')) return 'what answers there does not speak HTTP';
  return REASONS[code];
}

function adviceOf({ protocol }: URL, code = ''): string {
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')
    return 'Show one with --cert and --key.';
  if (code === 'ECONNRESET' && protocol === 'http:')
    return 'Where a node has TLS its URL begins with https.';
  if (code === 'ECONNREFUSED')
    return 'Is the node up? Say where it is with --url or ESCAPEMENT_URL.';
  if (code.includes('SELF_SIGNED') || code.startsWith('UNABLE_TO_'))
    return 'Name the file of its authority in NODE_EXTRA_CA_CERTS.';
  return '';
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
