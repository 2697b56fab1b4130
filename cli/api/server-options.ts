/**
 * Server options: those by which a command finds its node, and says who it is.
 *
 * Guarantees: a token is never an argument, where every process of the machine could read it.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../exit.ts';
import { type Output, printable } from '../render/output.ts';
import { type ClientCertificate, Connection } from './connection.ts';

export interface ServerOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly json?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_URL = 'http://127.0.0.1:7400';
const PEM_BYTES_MAX = 1024 * 1024;
const TOKEN_BYTES_MAX = 8_192;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Adds the options of every command that asks a node, `--json` too. */
export function withServerOptions(command: Command): Command {
  return command
    .option('--url <url>', `where the node is; or ESCAPEMENT_URL (${DEFAULT_URL})`)
    .option('--token-file <file>', 'file with the token; or the token itself in ESCAPEMENT_TOKEN')
    .option('--cert <file>', 'certificate to show, PEM; or ESCAPEMENT_TLS_CERT')
    .option('--key <file>', 'its private key, PEM; or ESCAPEMENT_TLS_KEY')
    .option('--json', 'print JSON');
}

/** For the end of a command's help. */
export const SERVER_EXITS = `Exit codes: 0 done, 1 there is no such thing, or the answer is no, 64 usage, 65 refused as wrong,
69 the node cannot be reached or is not ready, 77 the token is missing, unknown or may not do this.`;

/** @throws {CommandFailure} */
export function connectionOf(
  { url, tokenFile, cert, key }: ServerOptions,
  env: Environment,
  output: Output,
): Connection {
  const named = url ?? filled(env.ESCAPEMENT_URL);
  const source = url === undefined && named !== undefined ? 'ESCAPEMENT_URL' : '--url';
  const parsed = parseUrl(named ?? DEFAULT_URL, source);
  const token = tokenFile === undefined ? filled(env.ESCAPEMENT_TOKEN) : readToken(tokenFile);
  if (token !== undefined) {
    checkToken(token, tokenFile ?? 'ESCAPEMENT_TOKEN');
    if (parsed.protocol === 'http:' && !LOOPBACK.test(parsed.hostname))
      output.complain(
        `warning: the token goes to ${parsed.host} unencrypted; https keeps it secret.\n`,
      );
  }
  const certificate = readCertificate(
    cert ?? filled(env.ESCAPEMENT_TLS_CERT),
    key ?? filled(env.ESCAPEMENT_TLS_KEY),
  );
  return new Connection({ url: parsed, token, certificate });
}

/** Whatever the file system says has its own exit code. */
function readCertificate(
  cert: string | undefined,
  key: string | undefined,
): ClientCertificate | undefined {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined)
    throw new CommandFailure(EXIT.usage, 'A certificate needs its key: say both --cert and --key.');
  return { cert: readPem(cert), key: readPem(key) };
}

function readPem(path: string): Buffer {
  const bytes = firstBytes(path, PEM_BYTES_MAX + 1);
  if (bytes.length <= PEM_BYTES_MAX) return bytes;
  throw new CommandFailure(EXIT.badData, `${path}: is no certificate and no key, it has no end.`);
}

function parseUrl(text: string, source: string): URL {
  const wrong = (what: string): CommandFailure =>
    new CommandFailure(
      EXIT.usage,
      `${source} ${what}; it is such as ${DEFAULT_URL} or https://gate.example.org.`,
    );
  if (!URL.canParse(text)) throw wrong(`is no URL: "${printable(text.slice(0, 64))}"`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '')
    throw wrong('must not have a user or a password in it');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw wrong(`begins with http:// or https://, and not with "${url.protocol}"`);
  if (url.search !== '' || url.hash !== '') throw wrong('must not have a query or a fragment');
  return url;
}

/** Whatever the file system says has its own exit code. */
function readToken(path: string): string {
  const bytes = firstBytes(path, TOKEN_BYTES_MAX + 1);
  if (bytes.length <= TOKEN_BYTES_MAX) return bytes.toString('utf8').trim();
  throw new CommandFailure(
    EXIT.badData,
    `${path}: is no token, which takes at most ${TOKEN_BYTES_MAX} bytes.`,
  );
}

/** Also of what is no file: a pipe of the shell ends, a device may not. */
function firstBytes(path: string, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  const file = openSync(path, 'r');
  try {
    let length = 0;
    for (let read = 1; read > 0 && length < count; length += read)
      read = readSync(file, bytes, length, count - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function checkToken(token: string, source: string): void {
  if (/^[\x21-\x7e]+$/.test(token)) return;
  const what = token === '' ? 'is empty' : 'is one word of letters, digits and signs';
  throw new CommandFailure(EXIT.badData, `${source}: A token ${what}.`);
}

function filled(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === '' ? undefined : text.trim();
}
