/**
 * Debugger check: refuses to start in an environment that undoes what the node is protected by: with a
 * debugger that others can reach, who may run anything then, or with certificates that are not checked.
 */

import { url } from 'node:inspector';
import { CommandFailure, EXIT } from '../exit.ts';
import type { Host } from './host.ts';
import { isLoopback } from './listen-address.ts';

const INSPECT = /^--(?:inspect|debug)(?:-brk|-wait|-port)?$/;
/** A word of NODE_OPTIONS: up to a blank that does not stand in quotes. */
const WORD = /(?:[^\s"]|"(?:\\.|[^"\\])*"?)+/g;

/** @throws {CommandFailure} */
export function refuseOpenDebugger({ env, execArgv }: Pick<Host, 'env' | 'execArgv'>): void {
  const words = (env.NODE_OPTIONS ?? '').match(WORD) ?? [];
  const options = [...execArgv, ...words.map((word) => word.replace(/"|\\(?=.)/g, ''))];
  const asked = options.map((option, index) => hostOf(addressIn(option, options[index + 1])));
  const listening = url();
  const hosts = [...asked, listening === undefined ? undefined : new URL(listening).hostname];
  const open = hosts.find((host) => host !== undefined && !isLoopback(host));
  if (open === undefined) return;
  const what = `A debugger would listen on ${open}, where anybody who reaches it may run anything. Leave it out, or bind it to 127.0.0.1.`;
  throw new CommandFailure(EXIT.configuration, what);
}

/** Node reads it at each TLS connection, also of sockets between nodes. @throws {CommandFailure} */
export function refuseUncheckedCertificates({ env }: Pick<Host, 'env'>): void {
  if (env.NODE_TLS_REJECT_UNAUTHORIZED !== '0') return;
  const what =
    'NODE_TLS_REJECT_UNAUTHORIZED=0 has Node take any certificate for a good one. Leave it out, and name the authority by "tls.ca" or NODE_EXTRA_CA_CERTS.';
  throw new CommandFailure(EXIT.configuration, what);
}

/**
 * Address at which a debugger is to listen by this option, as Node reads it: with `_` for `-`, or in
 * the word after it.
 */
function addressIn(option: string, next = ''): string {
  const [name = '', ...rest] = option.split('=');
  const written = name.replaceAll('_', '-');
  if (!INSPECT.test(written)) return '';
  if (rest.length > 0) return rest.join('=');
  return written.endsWith('-port') ? next : '';
}

/** Host of `host:port`, of a port alone and of a host alone; nothing where the default holds. */
function hostOf(address: string): string | undefined {
  if (address === '' || /^\d+$/.test(address)) return undefined;
  const bracketed = /^\[(.*)\](?::\d+)?$/.exec(address);
  return bracketed?.[1] ?? address.replace(/:\d+$/, '');
}
