/**
 * Proofs by which a node shows who it is, and others show it who they are: the secret, certificates, the
 * tokens of clients; and whether that is enough for where it listens.
 */

import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { findTokenFaults, type HttpToken, TOKEN_BYTES_MIN } from '../../http/tokens.ts';
import { excerpt, messageOf } from '../../runtime/base/errors.ts';
import type { RoleSecrets } from '../../transports/websocket/secrets.ts';
import type { Issues } from './issues.ts';
import { originOf, valueAt } from './layers.ts';
import { isLoopback, type ListenAddress } from './listen-address.ts';
import { checkSecret, readable, readSecretFile, SECRET_BYTES_MIN } from './secrets.ts';
import type { Settings } from './settings.ts';

export interface NodeTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca?: Buffer;
  readonly requireClientCertificate: boolean;
  readonly warnBeforeMs: number;
}

export type NodeClient = Omit<HttpToken, 'expiresAt'>;

export interface Proofs {
  readonly secret: string | undefined;
  readonly secrets: RoleSecrets | undefined;
  readonly tls: NodeTls | undefined;
  /** Nothing: every client that reaches a loopback listener is operator, and nobody comes to any other. */
  readonly clients: readonly NodeClient[] | undefined;
}

/** Variable in which a secret may stand besides a file of its own. */
const SECRET_VARIABLE = 'ESCAPEMENT_SECRET';

export function readProofs(
  settings: Settings,
  listen: ListenAddress | undefined,
  env: Readonly<Record<string, string | undefined>>,
  issues: Issues,
): Proofs {
  const proofs = {
    secret: readSecret(settings, env[SECRET_VARIABLE], issues),
    secrets: readRoleSecrets(settings, issues),
    tls: readTls(settings, issues),
    clients: readClients(settings, issues),
  };
  checkOpenness(listen, proofs, issues);
  return proofs;
}

/** Off loopback every peer has to prove who it is, and nobody may listen in. */
function checkOpenness(
  listen: ListenAddress | undefined,
  { secret, secrets, tls }: Proofs,
  issues: Issues,
): void {
  if (listen === undefined || isLoopback(listen.host)) return;
  const hasSecret = secret !== undefined || secrets !== undefined;
  if (tls !== undefined && (hasSecret || tls.requireClientCertificate)) return;
  const missing =
    tls === undefined ? '"tls" and "secretFile"' : '"secretFile" or "tls.requireClientCertificate"';
  issues.unusable('listen', `${excerpt(listen.host)} is not loopback: set ${missing}`);
}

function readSecret(
  { secretFile }: Settings,
  variable: string | undefined,
  issues: Issues,
): string | undefined {
  const isByFlag = originOf(issues.layered.origins, 'secretFile').from === 'flag';
  if (variable === undefined || variable === '' || isByFlag)
    return secretFile && secretText('secretFile', secretFile, SECRET_BYTES_MIN, issues);
  try {
    return checkSecret(variable, SECRET_VARIABLE, SECRET_BYTES_MIN);
  } catch (thrown) {
    issues.unusable('', messageOf(thrown), { from: 'environment', name: SECRET_VARIABLE });
    return undefined;
  }
}

function readRoleSecrets(settings: Settings, issues: Issues): RoleSecrets | undefined {
  const secrets: Record<string, string> = {};
  for (const role of ['worker', 'gate', 'manager'] as const) {
    const file = settings[`secretFiles.${role}`];
    const text = file && secretText(`secretFiles.${role}`, file, SECRET_BYTES_MIN, issues);
    if (text !== undefined) secrets[role] = text;
  }
  if (valueAt(issues.layered.values, 'secretFiles') === undefined) return undefined;
  // One that two roles have makes the lesser of them as mighty as the greater.
  if (new Set(Object.values(secrets)).size < Object.keys(secrets).length)
    issues.unusable('secretFiles', 'each role has a secret of its own');
  return secrets;
}

function secretText(
  path: string,
  file: string,
  bytesMin: number,
  issues: Issues,
): string | undefined {
  try {
    const { text, warning } = readSecretFile(issues.pathOf(path, file), bytesMin);
    const isStrict = valueAt(issues.layered.values, 'strict') === true;
    if (warning !== undefined && isStrict) issues.unusable(path, warning);
    else if (warning !== undefined) issues.warnings.push(`${path}: ${warning}`);
    return text;
  } catch (thrown) {
    issues.unusable(path, messageOf(thrown));
    return undefined;
  }
}

const WARN_BEFORE_MS = 30 * 86_400_000;
/** Far more than all authorities that a system trusts. */
const PEM_BYTES_MAX = 4 * 1024 * 1024;

function readTls(settings: Settings, issues: Issues): NodeTls | undefined {
  if (valueAt(issues.layered.values, 'tls') === undefined) return undefined;
  const { 'tls.cert': cert, 'tls.key': key, 'tls.ca': ca } = settings;
  const requireClientCertificate = settings['tls.requireClientCertificate'] ?? false;
  const warnBeforeMs = settings['tls.warnBefore'] ?? WARN_BEFORE_MS;
  if (cert === undefined || key === undefined) {
    issues.unusable('tls', 'must have "cert" and "key", each the path of a file');
    return undefined;
  }
  if (requireClientCertificate && ca === undefined)
    issues.unusable('tls.requireClientCertificate', 'needs "tls.ca" to check certificates by');
  const read = (path: string, file: string): Buffer => {
    try {
      const at = issues.pathOf(path, file);
      readable(at, PEM_BYTES_MAX);
      return readFileSync(at);
    } catch (thrown) {
      issues.unusable(path, messageOf(thrown));
      return Buffer.alloc(0);
    }
  };
  const files = {
    cert: read('tls.cert', cert),
    key: read('tls.key', key),
    ...(ca !== undefined && { ca: read('tls.ca', ca) }),
  };
  if (!issues.isEmpty) return undefined;
  try {
    createSecureContext(files);
  } catch (thrown) {
    issues.unusable('tls', `certificate and key cannot be used: ${messageOf(thrown)}`);
  }
  return { ...files, requireClientCertificate, warnBeforeMs };
}

/** With the same check as the API makes of its tokens: what is good here is good there, at the start and later. */
function readClients(settings: Settings, issues: Issues): readonly NodeClient[] | undefined {
  const { clients } = settings;
  const { node, gate, datacenter, place, gates = [], datacenters = [] } = settings;
  const taken = [node, gate, datacenter, place, ...gates, ...datacenters];
  const read = clients?.map(({ name, role, tokenFile, jobs, actors }, index) => {
    // Logs tell a client from a node by nothing else.
    if (taken.includes(name)) issues.unusable(`clients.${index}.name`, 'a node has this name');
    const path = `clients.${index}.tokenFile`;
    const token = secretText(path, tokenFile, TOKEN_BYTES_MIN, issues) ?? '';
    return {
      ...{ name, role, token },
      ...(jobs !== undefined && { jobs }),
      ...(actors !== undefined && { actors }),
    };
  });
  for (const { index, field, what } of findTokenFaults(read ?? [])) {
    // A file that cannot be read has been told of.
    if (field === 'token' && read?.[index]?.token === '') continue;
    issues.unusable(`clients.${index}.${field === 'token' ? 'tokenFile' : field}`, what);
  }
  return read;
}
