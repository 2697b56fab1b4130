/**
 * The HTTP API of a jobs system in a Fastify application.
 *
 * Fastify hands over the bare request, with its body unread: within the scope of the API nothing
 * parses. The API ends with the application.
 *
 *   npx tsx examples/http-fastify.ts
 */

import fastify, { type FastifyInstance } from 'fastify';
import { createHttpHandler, serverLimits } from '../http/index.ts';
import { type Manager, startManager } from '../programs/jobs/index.ts';

const PREFIX = '/jobs-api';

export function createApp(manager: Manager): FastifyInstance {
  const api = createHttpHandler({ program: manager, prefix: PREFIX });
  const app = fastify({ forceCloseConnections: true });
  serverLimits(app.server);
  app.register(
    (scope, _options, done) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _body, parsed) => parsed(null));
      scope.all('/*', (request, reply) => {
        reply.hijack();
        api(request.raw, reply.raw);
      });
      done();
    },
    { prefix: PREFIX },
  );
  app.addHook('preClose', () => api.close());
  app.post<{ Body: { name: string } }>('/greetings', async ({ body }) => ({
    greeting: `Hello, ${body.name}!`,
  }));
  return app;
}

export async function main(print: (line: string) => void): Promise<void> {
  const manager = await startManager({ datacenter: 'A' });
  const app = createApp(manager);
  const url = await app.listen({ port: 0, host: '127.0.0.1' });

  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Ada' });
  const greeting = await fetch(`${url}/greetings`, { method: 'POST', headers, body });
  print(`the application: ${await greeting.text()}`);
  print(`the API: ${(await (await fetch(`${url}/jobs-api/v1/jobs`)).text()).trim()}`);

  await app.close();
  await manager.stop();
}

if (process.argv[1] === import.meta.filename) await main((line) => console.log(line));
