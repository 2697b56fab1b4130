/**
 * Route: where it is, who may use it, what comes with it, and what it does.
 *
 * The table of routes is closed. Names of routes are the labels of metrics, so that no client can
 * make a new one.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Gate, JobsClient, Manager } from '../programs/jobs/index.ts';
import {
  type Action,
  type ClientRole,
  leastRole,
} from '../programs/jobs/jobs-service/permissions.ts';
import type { Clock } from '../runtime/ports/clock.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Answer } from './answer.ts';
import type { Caller } from './callers.ts';
import type { HttpLimits } from './limits.ts';
import { HttpRefusal } from './refusal.ts';
import type { Watchers } from './watchers.ts';

/** A node of one's own kinds. */
export interface OwnProgram {
  // biome-ignore lint/suspicious/noExplicitAny: whatever kinds it has.
  readonly runtime: Runtime<any>;
}

/** Program whose API it is. */
export type ApiProgram = Gate | Manager | OwnProgram;

/** Whatever kinds it knows. */
export function runtimeOf({ program }: Pick<Service, 'program'>): Runtime {
  return program.runtime as unknown as Runtime;
}

export function isOfJobs(program: ApiProgram): program is Gate | Manager {
  return 'counters' in program;
}

/** Service that routes about jobs work on. */
export interface JobsService extends Service {
  readonly program: Gate | Manager;
  readonly client: JobsClient;
}

/** Service that routes work on. */
export interface Service {
  readonly program: ApiProgram;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly watchers: Watchers;
  readonly isReady: () => boolean;
  /** More for /readyz. */
  readonly details: () => object;
  /** The text of /metrics. */
  readonly metrics: () => string;
}

export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  /** Parameters: what stands in the path for `:name`. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
}

/** A request that may be carried out. */
export interface Admitted extends Pick<Call, 'parameters' | 'caller'> {
  readonly route: Route;
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

export interface Route {
  /** The action that it is in the table of permissions. */
  readonly name: Action | (typeof PROBES)[number];
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Parts of the path; one that begins with ":" stands for any id, a last one with "*" for one and all behind it. */
  readonly path: string;
  /** The least that may, as the table says; undefined: everybody, without a token and by any name of the server. */
  readonly role?: ClientRole;
  /** It goes on for long, and is counted among the streams instead of the requests at once. */
  readonly isStream?: true;
  /** Only where the place is hosted; false: anywhere, but not while the process starts or ends. */
  readonly isHosted?: boolean;
  readonly body?: 'small' | 'submission';
  /** `undefined`: it has answered by itself. */
  run(service: Service, call: Call): Promise<Answer | undefined> | Answer;
}

/** They tell nothing and change nothing. */
const PROBES = ['healthz', 'livez', 'readyz'] as const;

/** Routes, each with the role that the table of permissions asks for. */
export function routes(all: ReadonlyArray<Omit<Route, 'role'>>): readonly Route[] {
  return all.map((route) =>
    isAction(route.name) ? { ...route, role: leastRole(route.name) } : route,
  );
}

export function isAction(name: Route['name']): name is Action {
  return !(PROBES as readonly string[]).includes(name);
}

export interface Found {
  readonly route: Route | undefined;
  readonly parameters: Readonly<Record<string, string>>;
  /** The methods that there are at this path. */
  readonly methods: readonly string[];
}

export class RouteTable {
  readonly #routes: ReadonlyArray<readonly [parts: readonly string[], route: Route]>;

  constructor(routes: readonly Route[]) {
    this.#routes = routes.map((route) => [route.path.split('/').slice(1), route] as const);
  }

  find(method: string, segments: readonly string[]): Found {
    const there = this.#routes.filter(([parts]) => fits(parts, segments));
    const wanted = method === 'HEAD' ? 'GET' : method;
    const [parts = [], route] = there.find(([, { method: own }]) => own === wanted) ?? [];
    const parameters: Record<string, string> = {};
    for (const [index, part] of parts.entries()) {
      if (part.startsWith(':')) parameters[part.slice(1)] = segments[index] as string;
      if (part.startsWith('*')) parameters[part.slice(1)] = segments.slice(index).join('/');
    }
    const own = there.map(([, { method: known }]) => known as string);
    return { route, parameters, methods: own.includes('GET') ? [...own, 'HEAD'] : own };
  }
}

function fits(parts: readonly string[], segments: readonly string[]): boolean {
  const hasRest = parts.at(-1)?.startsWith('*') === true;
  if (hasRest ? parts.length > segments.length : parts.length !== segments.length) return false;
  return parts.every((part, index) =>
    /^[:*]/.test(part) ? segments[index] !== '' : part === segments[index],
  );
}

/** Reason for which a path has nothing for this method. */
export function missing(methods: readonly string[]): HttpRefusal {
  if (methods.length === 0) return new HttpRefusal('notFound', 'There is nothing at this path.');
  const headers = { allow: methods.join(', ') };
  return new HttpRefusal('methodNotAllowed', 'This is not done here.', { headers });
}
