/**
 * Options of the WebSocket transport, checked once before anything is opened.
 *
 * Unsafe options are refused here and not later: a listener that other machines can reach needs TLS
 * and a secret or certificates, and nothing secret is sent to another machine in the clear.
 */

import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { excerpt, messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import type { Logger } from '../../runtime/base/limits.ts';
import {
  ANYTHING,
  checkOptions,
  FUNCTION,
  OBJECT,
  type OptionRule,
  port,
} from '../../runtime/base/option-rules.ts';
import type { Clock } from '../../runtime/ports/clock.ts';
import { DEFAULT_ROLES, NODE_ROLE, type PeerRole } from '../../runtime/ports/peer-role.ts';
import type { Random } from '../../runtime/ports/random.ts';
import type { PeerIdentity } from '../../runtime/ports/transport.ts';
import { checkPem } from './certificate.ts';
import { isNodeName, type KnownClaim } from './claim.ts';
import { resolveWebSocketLimits, type WebSocketLimits } from './limits.ts';
import { isLoopback } from './loopback.ts';
import { isRoleWithSecret, type RoleSecrets, Secrets } from './secrets.ts';

export interface WebSocketOptions {
  /** The name of this node. Clients are called `<name of their token>~<anything>`. */
  readonly node: string;
  /** Role of this node to its peers, one of `roles`. Default: `node`, a process of one's own kinds. */
  readonly role?: string;
  /** Roles that nodes of the cluster have, from the least to the greatest. Default: `client` and `node`. */
  readonly roles?: readonly PeerRole[];
  /** The place that it hosts or may host. Default: its name. */
  readonly place?: string;
  /**
   * Address to listen at; port 0 takes any that is free. Left out: this node only dials. Default host:
   * 127.0.0.1.
   */
  readonly listen?: { readonly host?: string; readonly port: number };
  /** Server of yours, in place of `listen`, whose upgrades on `path` are taken. You start and stop it. */
  readonly server?: HttpServer | HttpsServer;
  /** Default: `/peers`. */
  readonly path?: string;
  /** Peers to dial: `ws://` or `wss://` URLs. Oneself and what is there twice is dropped. */
  readonly peers?: readonly string[];
  /** Secret that all nodes of the cluster know: at least 32 bytes. It is proved to each other, never sent. */
  readonly secret?: string;
  /** Instead, or for some roles: what nodes of a role and those above it know, see docs/websocket.md. */
  readonly secrets?: RoleSecrets;
  readonly tls?: WebSocketTls;
  /** Rises with each start of the node; of two nodes of one name the greater one stays. Default: the clock's now. */
  readonly bootEpoch?: number;
  /**
   * Gives the reason, in words for it, why a peer that has proved who it is may not come; or nothing.
   * Default: it may.
   */
  readonly admit?: (peer: { readonly node: string } & PeerIdentity) => string | undefined;
  /**
   * Told once when `peer`, which this start was connected to, knows a later start of the same name: from
   * then on this one gets in nowhere. Default: it is logged, and peers are dialled as ever.
   */
  readonly onSuperseded?: (peer: string) => void;
  /**
   * Called once when a node has proved that it has the name of this one and was started before.
   * Both go on; the later of them should end.
   */
  readonly onNamesake?: () => void;
  /** Told each time a peer could not be reached or did not let this node in; `status` if it answered. */
  readonly onUnreached?: (url: string, reason: string, status: number | undefined) => void;
  /**
   * Finds whose token a client shows. Left out: there are no clients. `node`: what the client calls
   * itself.
   */
  readonly clientOf?: (
    token: string | undefined,
    node: string,
  ) => { readonly name: string } | undefined;
  /** The token to show, for the role of a client. */
  readonly token?: string;
  readonly limits?: Partial<WebSocketLimits>;
  readonly logger?: Logger;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** PEM. To listen, `cert` and `key`; to dial, `ca` unless the peers' certificates come from a public one. */
export interface WebSocketTls {
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly ca?: string | Buffer;
  /** Both ends show a certificate that `ca` has signed and that says their role, place and name. */
  readonly requireClientCertificate?: boolean;
}

const SECRET_BYTES_MIN = 32;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;
const DEFAULT_HOST = '127.0.0.1';
const DEFAULT_PATH = '/peers';

/** Rules of the options. No rule shows a value that may be secret: those are checked below. */
const RULES: Required<{ readonly [name in keyof WebSocketOptions]: OptionRule }> = {
  node: ANYTHING,
  role: ANYTHING,
  roles: { must: 'a list of roles', allows: isListOfRoles },
  place: ANYTHING,
  listen: OBJECT,
  server: port('a server of node:http or node:https', 'listen', 'on'),
  path: ANYTHING,
  peers: { must: 'a list of URLs', allows: Array.isArray },
  secret: ANYTHING,
  secrets: ANYTHING,
  tls: ANYTHING,
  bootEpoch: ANYTHING,
  admit: FUNCTION,
  onSuperseded: FUNCTION,
  onNamesake: FUNCTION,
  onUnreached: FUNCTION,
  clientOf: FUNCTION,
  token: ANYTHING,
  limits: OBJECT,
  logger: port('a logger', 'debug', 'info', 'warn', 'error'),
  clock: port('a clock', 'now', 'schedule'),
  random: port('a source of chance', 'next', 'id'),
};

const ROLE_NAME = /^[a-z][a-z0-9]{0,31}$/i;

/** Names have no hyphen, and one role has each. */
function isListOfRoles(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  const names = value.map((role: Partial<PeerRole> | null) => role?.name);
  return (
    names.every((name) => typeof name === 'string' && ROLE_NAME.test(name)) &&
    new Set(names).size === names.length
  );
}

/** Settings: the options once they are checked. */
export interface Settings {
  readonly own: KnownClaim;
  readonly roles: readonly PeerRole[];
  readonly host: string;
  readonly path: string;
  readonly peers: readonly URL[];
  readonly secrets: Secrets;
  readonly isMutual: boolean;
  readonly limits: WebSocketLimits;
}

/** @throws {RuntimeError} OPTION_INVALID */
export function resolveSettings(options: WebSocketOptions, now: number): Settings {
  checkOptions('WebSocket transport', options, RULES);
  const { node, place = node, bootEpoch = now, secret, tls, roles = DEFAULT_ROLES } = options;
  const { role = NODE_ROLE.name } = options;
  if (!isNodeName(node)) throw invalid(`${excerpt(node)} cannot name a node`);
  if (!isNodeName(place)) throw invalid(`${excerpt(place)} cannot name a place`);
  const rights = roles.find(({ name }) => name === role);
  if (rights === undefined) {
    const known = roles.map(({ name }) => name).join(', ');
    throw invalid(`${excerpt(role)} is no role of a peer: "roles" has ${known}`);
  }
  if (!Number.isSafeInteger(bootEpoch) || bootEpoch < 0)
    throw invalid(`"bootEpoch" must be an integer from 0 up, got ${excerpt(bootEpoch)}`);
  if (secret !== undefined && Buffer.byteLength(secret) < SECRET_BYTES_MIN)
    throw invalid(`"secret" must have at least ${SECRET_BYTES_MIN} bytes`);
  checkRoleSecrets(options.secrets ?? {}, roles);
  if (options.listen !== undefined && options.server !== undefined)
    throw invalid('"listen" and "server" exclude each other');
  const path = options.path ?? DEFAULT_PATH;
  if (!/^\/[\w./~-]*$/.test(path)) throw invalid(`${excerpt(path)} is no path`);
  const isMutual = tls?.requireClientCertificate === true;
  if (options.token !== undefined && !TOKEN.test(options.token))
    throw invalid('"token" has characters that do not fit into a header');
  const host = options.listen?.host ?? DEFAULT_HOST;
  if (options.listen !== undefined && !isLoopback(host) && !isSafeOffLoopback(options))
    throw notSafe(host);
  checkTls(options, isMutual);
  return {
    own: { node, role, place, rights, bootEpoch },
    roles,
    host,
    path,
    peers: peerUrls(options.peers ?? [], rights),
    secrets: new Secrets(role, roles, secret, options.secrets),
    isMutual,
    limits: resolveWebSocketLimits(options.limits),
  };
}

/**
 * Checks a server of the caller's, once it is known where it listens. @throws {RuntimeError}
 * OPTION_INVALID
 */
export function checkReachable(options: WebSocketOptions, address: string | undefined): void {
  if (address === undefined || isLoopback(address) || isSafeOffLoopback(options)) return;
  throw notSafe(address);
}

export function isSafeOffLoopback({ tls, secret, secrets }: WebSocketOptions): boolean {
  const hasSecret = secret !== undefined || Object.keys(secrets ?? {}).length > 0;
  return tls !== undefined && (hasSecret || tls.requireClientCertificate === true);
}

function checkRoleSecrets(secrets: RoleSecrets, roles: readonly PeerRole[]): void {
  for (const [role, secret] of Object.entries(secrets)) {
    if (!isRoleWithSecret(role, roles))
      throw invalid(`${excerpt(role)} in "secrets" is no role of a node`);
    if (Buffer.byteLength(secret) < SECRET_BYTES_MIN)
      throw invalid(`"secrets.${role}" must have at least ${SECRET_BYTES_MIN} bytes`);
  }
}

function checkTls({ listen, tls, server }: WebSocketOptions, isMutual: boolean): void {
  if (tls === undefined) return;
  const hasOwn = tls.cert !== undefined && tls.key !== undefined;
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw invalid('"tls.cert" and "tls.key" belong together');
  if (!hasOwn && listen !== undefined) throw invalid('to listen, "tls" needs "cert" and "key"');
  checkMutual(tls, hasOwn || server !== undefined, isMutual);
  try {
    checkPem(tls);
  } catch (cause) {
    throw invalid(`"tls" cannot be used: ${messageOf(cause)}`);
  }
}

function checkMutual(tls: WebSocketTls, hasOwn: boolean, isMutual: boolean): void {
  if (!isMutual) return;
  if (!hasOwn) throw invalid('"tls.requireClientCertificate" needs "cert" and "key" of this node');
  if (tls.ca === undefined) throw invalid('"tls.requireClientCertificate" needs "ca"');
}

function peerUrls(peers: readonly string[], { isClient }: PeerRole): URL[] {
  const urls = new Map<string, URL>();
  for (const text of peers) {
    const url = urlOf(text);
    if (url === undefined || (url.protocol !== 'ws:' && url.protocol !== 'wss:'))
      throw invalid(`${excerpt(text)} in "peers" is no ws:// or wss:// URL`);
    if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
      throw invalid('a URL in "peers" has a host, a port and a path, nothing else');
    if (url.protocol === 'ws:' && !isLoopback(url.hostname))
      throw invalid(`${excerpt(text)} leads to another machine: only wss:// does that safely`);
    if (url.pathname === '/') url.pathname = DEFAULT_PATH;
    urls.set(url.href, url);
  }
  if (isClient && urls.size === 0) throw invalid('a client needs "peers" to dial');
  return [...urls.values()];
}

function urlOf(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

function notSafe(host: string): RuntimeError {
  return invalid(
    `${excerpt(host)} can be reached from other machines: listening there needs "tls" and "secret", or "tls.requireClientCertificate"`,
  );
}

function invalid(what: string): RuntimeError {
  return new RuntimeError('OPTION_INVALID', `WebSocket transport: ${what}.`);
}
