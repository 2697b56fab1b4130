/**
 * Kinds of a node of one's own: loaded from a module file of the user's, and closed to clients that may
 * do less than send events.
 *
 * The module is code and runs when it is loaded; what it exports is checked before anything is opened
 * with it, and exports that are no kinds are logged.
 */

import { Permissions, refusalOf } from '../../programs/jobs/jobs-service/permissions.ts';
import type { ForeignMessage } from '../../runtime/actor.ts';
import { type KindEntry, partsOf } from '../../runtime/actor.ts';
import { messageOf, RuntimeError } from '../../runtime/base/errors.ts';
import type { Logger, RuntimeLimits } from '../../runtime/base/limits.ts';
import { SPAWN_EVENT } from '../../runtime/machine.ts';
import { rehearsedKinds } from '../../runtime/rehearsal.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { kindsIn } from '../loaders/kinds-module.ts';
import { importModule } from '../loaders/module-file.ts';
import type { NodeClient } from './proofs.ts';

interface OwnKinds {
  readonly kinds: Readonly<Record<string, KindEntry>>;
  readonly limits: Partial<RuntimeLimits>;
}

/** `clients`: as they are now. @throws {CommandFailure} that says what is wrong with the file. */
export async function loadKinds(
  path: string,
  clients: () => readonly NodeClient[] | undefined,
  logger: Logger,
): Promise<OwnKinds> {
  const refuse = (what: string, cause: unknown): CommandFailure =>
    new CommandFailure(EXIT.configuration, `kinds: ${path}: ${what}`, { cause });
  const exported = await importModule(path).catch((thrown: unknown) => {
    throw refuse(messageOf(thrown), (thrown as Error).cause);
  });
  try {
    const { kinds, limits = {}, others } = kindsIn(exported);
    const names = [...rehearsedKinds({ kinds, limits }).keys()];
    const leftAlone = others.length === 0 ? undefined : others;
    logger.info({ event: 'node.kinds', kinds: names, leftAlone }, 'kinds are loaded');
    const permissions = new Permissions({ clients, gates: [] });
    const entries = Object.entries(kinds).map(([name, entry]) => {
      const { machine, options } = partsOf(name, entry);
      const admit = (message: ForeignMessage) =>
        refusalOfClient(permissions, message) ?? options.admit?.(message);
      return [name, { ...options, machine, admit }] as const;
    });
    return { kinds: Object.fromEntries(entries), limits };
  } catch (thrown) {
    throw refuse(messageOf(thrown), thrown);
  }
}

/**
 * Refusal of a client by the table of permissions, as over HTTP. Nodes are asked about by the kind
 * itself alone.
 */
function refusalOfClient(
  permissions: Permissions,
  { peer, from = '', to, event }: ForeignMessage,
): RuntimeError | undefined {
  if (peer?.role !== 'client') return undefined;
  const action = event.type === SPAWN_EVENT ? 'actors.spawn' : 'actors.send';
  const asker = permissions.askerOf(peer, from);
  const why =
    asker === undefined ? 'Nobody of that name is a client here.' : refusalOf(asker, action, to);
  return why === undefined
    ? undefined
    : new RuntimeError('NOT_ALLOWED', `${to} refuses ${action}: ${why}`);
}
