/**
 * Guard: the checks before every request that is no probe: by which name the server is called and from which
 * page, by whom, and whether the table of permissions lets that caller do it.
 *
 * One for the API and for the probes of a node that has none: nobody gets past one and not the other.
 */

import type { IncomingMessage } from 'node:http';
import { type Action, refusalOf } from '../programs/jobs/jobs-service/permissions.ts';
import type { Logger } from '../runtime/base/limits.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import { type Caller, Callers, type HttpTokens } from './callers.ts';
import { Origins } from './origins.ts';
import { HttpRefusal } from './refusal.ts';

export interface GuardOptions {
  readonly tokens: HttpTokens;
  readonly hosts: readonly string[] | undefined;
  readonly ownHosts: boolean | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Guard {
  readonly #callers: Callers;
  readonly #origins: Origins;

  /** @throws {RuntimeError} OPTION_INVALID */
  constructor({ tokens, hosts, ownHosts, clock, logger }: GuardOptions) {
    this.#callers = new Callers(tokens, clock, logger);
    this.#origins = new Origins(hosts ?? [], ownHosts ?? hosts === undefined);
  }

  /** @throws {HttpRefusal} wrongHost, forbidden */
  checkOrigin(request: IncomingMessage): void {
    this.#origins.check(request);
  }

  /** `subject`: the job or the actor in the path. @throws {HttpRefusal} unauthorized, forbidden */
  admit(
    request: IncomingMessage,
    query: URLSearchParams,
    action: Action,
    subject?: string,
  ): Caller {
    const caller = this.#callers.identify(request, query);
    const refusal = refusalOf(caller, action, subject);
    if (refusal !== undefined) throw new HttpRefusal('forbidden', refusal);
    return caller;
  }
}
