/** Certificates for a test, made when it runs, by the openssl of the machine. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CertificateAuthority {
  readonly ca: string;
  /** For a node on this machine; its name is the subject. `dnsName`: one more that it has. */
  issue(
    name: string,
    dnsName?: string,
    more?: { readonly uri?: string; readonly days?: number },
  ): { readonly cert: string; readonly key: string };
  close(): void;
}

/** Where CI is said to run a missing one is a failure, and no reason to skip anything. */
export function hasOpenssl(): boolean {
  if (process.env['CI'] === 'true') return true;
  try {
    openssl('version');
    return true;
  } catch {
    return false;
  }
}

export function certificateAuthority(): CertificateAuthority {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-certificates-'));
  const at = (name: string) => join(folder, name);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const [caKey, caCert] = [at('ca.key'), at('ca.pem')];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    caKey,
    '-out',
    caCert,
    '-days',
    '2',
    '-subj',
    '/CN=test',
  );
  return {
    ca: readFileSync(caCert, 'utf8'),
    issue: (name, dnsName = 'localhost', { uri, days = 2 } = {}) => {
      const [nodeKey, request, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map((ending) =>
        at(`${name}.${ending}`),
      ) as [string, string, string, string];
      const names = ['IP.1=127.0.0.1', 'DNS.1=localhost', `DNS.2=${dnsName}`];
      if (uri !== undefined) names.push(`URI.1=${uri}`);
      writeFileSync(extensions, ['subjectAltName=@names', '[names]', ...names].join('\n'));
      openssl('req', ...key, '-keyout', nodeKey, '-out', request, '-subj', `/CN=${name}`);
      const signed = ['-CA', caCert, '-CAkey', caKey, '-CAcreateserial', '-days', String(days)];
      openssl('x509', '-req', '-in', request, ...signed, '-extfile', extensions, '-out', cert);
      return { cert: readFileSync(cert, 'utf8'), key: readFileSync(nodeKey, 'utf8') };
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function openssl(...words: string[]): void {
  execFileSync('openssl', words, { stdio: 'pipe' });
}
