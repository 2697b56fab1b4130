/** Suggestions for unknown keys, wherever people write keys. */

import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseJobFile } from '../cli/loaders/job-file.ts';
import { read } from '../http/schema.ts';
import { schemaIssues } from '../reading/schema.ts';
import { resolveLimits } from '../runtime/base/limits.ts';
import { readPlan } from '../simulator/jobs/report/plan-file.ts';
import { parseScenario } from '../simulator/jobs/scenario/scenario.ts';
import { resolveWebSocketLimits } from '../transports/websocket/limits.ts';

function said(run: () => unknown): string {
  try {
    run();
  } catch (thrown) {
    return (thrown as Error).message;
  }
  return 'nothing';
}

test('job files, plans, requests and limits say which key was probably meant', () => {
  const job = 'timeuot: 5s\nworkflows: [{ id: w, handler: h, dependOn: [] }]\n';
  const ofJob = said(() => parseJobFile(job, 'job.yml'));
  expect(ofJob).toContain('job.yml:1:1: timeuot: there is no such key; did you mean "timeout"?');
  expect(ofJob).toContain('workflows[0].dependOn: there is no such key; did you mean "dependsOn"?');

  const { plan } = parseScenario(
    'name: x\nsystem: jobs\ntopology: { datacenters: { A: {} } }\n',
    'x.yml',
  );
  const step = { atMs: 0, do: 'crash', nodee: 'A.manager-1' };
  const written = JSON.stringify({ ...plan, healedAtMs: 1, steps: [step] });
  const ofPlan = said(() => readPlan(written, 'plan.json'));
  expect(ofPlan).toContain('healedAtMs: there is no such key; did you mean "healAtMs"?');
  expect(ofPlan).toContain('steps[0].nodee: there is no such key; did you mean "node"?');

  const schema = z.strictObject({ timeoutMs: z.int().optional() });
  expect(said(() => read(schema, { timeoutMS: 5 }))).toContain(
    'There is no such field; did you mean "timeoutMs"?',
  );
  expect(said(() => read(schema, { colour: 5 }))).toContain('There is no such field.');

  expect(said(() => resolveLimits({ mailboxmax: 1 } as object))).toBe(
    'Limits: There is no option "mailboxmax"; did you mean "mailboxMax"?',
  );
  expect(said(() => resolveWebSocketLimits({ redialMinMs: 9, redialMaxMs: 8 }))).toBe(
    'Limits of sockets: "redialMinMs" must not be above "redialMaxMs": "redialMinMs" is 9 and "redialMaxMs" is 8.',
  );
});

test('keys are known through lists, records, unions and defaults', () => {
  const inner = z.strictObject({ colour: z.string().optional() });
  const schema = z.strictObject({
    list: z.array(inner).optional(),
    record: z.record(z.string(), inner).optional(),
    either: z.union([z.literal('none'), z.strictObject({ one: inner })]).default('none'),
  });
  for (const value of [{ list: [{ color: 'x' }] }, { record: { a: { color: 'x' } } }]) {
    const { error } = schema.safeParse(value);
    expect(error && schemaIssues(schema, error).map(({ likely }) => likely)).toEqual(['colour']);
  }
});
