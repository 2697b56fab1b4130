/**
 * `escapement/http`: the HTTP API of a manager or a gate of the jobs system, to mount in any server.
 *
 * This is a public entry. Importing it starts nothing and listens nowhere. docs/http-api.md is the
 * guide.
 */

export type { ClientRole as Role } from '../programs/jobs/jobs-service/permissions.ts';
export { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from './api.ts';
export type { HttpTokens } from './callers.ts';
export type { HttpLimits } from './limits.ts';
export { HTTP_CODES, type HttpCode } from './refusal.ts';
export {
  createHttpServer,
  type HttpServerOptions,
  type ServerCounts,
  serverCounts,
  serverLimits,
} from './server.ts';
export type { HttpToken } from './tokens.ts';
