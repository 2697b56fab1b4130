/** The page about the HTTP API lists what there is, in both directions. */

import { expect, test } from 'vitest';
import { HTTP_CODES } from '../../http/index.ts';
import { DEFAULT_HTTP_LIMITS } from '../../http/limits.ts';
import { actorRoutes } from '../../http/routes/actors.ts';
import { jobRoutes } from '../../http/routes/jobs.ts';
import { operationRoutes } from '../../http/routes/operations.ts';
import { probeRoutes } from '../../http/routes/probes.ts';
import { workerRoutes } from '../../http/routes/workers.ts';
import { readProjectFile } from '../project-files.ts';

const page = readProjectFile('docs/http-api.md');
const rowsOf = (section: string, pattern: RegExp) => {
  const text = page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return Array.from(text.matchAll(pattern), ([, ...cells]) => cells);
};

test('every code with its status', () => {
  const documented = rowsOf('Refusals', /^\| `(\w+)` +\| (\d{3}) +\|/gm).map(([code, status]) => [
    code,
    Number(status),
  ]);
  expect(Object.fromEntries(documented)).toEqual(HTTP_CODES);
});

test('every limit with its default', () => {
  const documented = rowsOf('Limits', /^\| `(\w+)` +\| ([\d,]+) +\|/gm).map(([name, value]) => [
    name,
    Number(value?.replaceAll(',', '')),
  ]);
  expect(Object.fromEntries(documented)).toEqual(DEFAULT_HTTP_LIMITS);
});

test('every route with its role', () => {
  const documented = rowsOf('Routes', /^\| `([A-Z]+ \/\S+)` +\| (\w+|–) +\|/gm).map(
    ([route, role]) => `${route} ${role}`,
  );
  const all = [...jobRoutes, ...workerRoutes, ...actorRoutes, ...operationRoutes, ...probeRoutes];
  const actual = all.map(
    ({ method, path, role }) => `${method} ${path.replace(/:\w+/, ':id')} ${role ?? '–'}`,
  );
  expect(documented.sort()).toEqual(actual.sort());
});
