/**
 * Loads the handlers of a worker from a module file of the user's.
 *
 * Handlers are its named exports, or the properties of its default export. The module is code
 * and runs when it is loaded; what it exports is checked before a worker is started with it.
 */

import type { Handlers } from '../../programs/jobs/worker/handlers.ts';
import { checkHandlers } from '../../programs/jobs/worker/handlers.ts';
import { messageOf } from '../../runtime/base/errors.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { importModule } from '../loaders/module-file.ts';

/** @throws {CommandFailure} that says what is wrong with the file. */
export async function loadHandlers(path: string): Promise<Handlers> {
  const refuse = (what: string, cause?: unknown): CommandFailure =>
    new CommandFailure(EXIT.configuration, `handlers: ${path}: ${what}`, { cause });
  const exported = await importModule(path).catch((thrown: unknown) => {
    throw refuse(messageOf(thrown), (thrown as Error).cause);
  });
  const { default: main, ...named } = exported;
  // CommonJS modules are their own default export.
  if (main !== undefined && (typeof main !== 'object' || main === null))
    throw refuse('its default export must be an object of handlers.');
  const handlers = { ...named, ...(main as object | undefined) } as Handlers;
  delete (handlers as Record<string, unknown>)['module.exports'];
  if (Object.keys(handlers).length === 0) throw refuse('it exports no handlers.');
  try {
    checkHandlers(handlers);
  } catch (thrown) {
    throw refuse(messageOf(thrown), thrown);
  }
  return handlers;
}
