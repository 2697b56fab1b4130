/** Jobs whose record would be too large to be written with each of their steps. */

import { expect, test } from 'vitest';
import { resolveConfiguration } from '../../programs/jobs/configuration.ts';
import { Submissions } from '../../programs/jobs/submission.ts';
import { SimulatedClock } from '../../simulator/testing.ts';

const terms = { timeoutMs: 60_000 };

async function take(limits: object, pages: ReadonlyArray<readonly object[]>) {
  const submissions = new Submissions(new SimulatedClock(), resolveConfiguration(limits));
  const taken = pages.map((workflows, index) =>
    submissions.take('ada', { jobId: 'j', terms, workflows, page: index + 1, pages: pages.length }),
  );
  return Promise.all(taken);
}

const workflow = (id: string, dependsOn: readonly string[] = []) => ({
  id,
  handler: 'sleep',
  dependsOn,
});

test('dependencies are counted over all pages, and refused at the first one that passes the bound', async () => {
  const pages = [
    [workflow('a'), workflow('b', ['a'])],
    [workflow('c', ['a', 'b'])],
    [workflow('d', ['a'])],
  ];
  expect((await take({ dependenciesMax: 4 }, pages)).at(-1)).toMatchObject({ jobId: 'j' });
  expect(await take({ dependenciesMax: 2 }, pages)).toMatchObject([
    null,
    {
      field: 'workflows.dependsOn',
      detail: '3 dependencies or more are too many (dependenciesMax 2)',
      isTooLarge: true,
    },
    null,
  ]);
  expect(await take({ dependenciesMax: 0 }, [[workflow('a'), workflow('b', ['a'])]])).toMatchObject(
    [{ field: 'workflows.dependsOn', isTooLarge: true }],
  );
});

test('the record of a job is bounded by what ids and dependencies take in it', async () => {
  const long = (index: number) => workflow(`${'x'.repeat(90)}${index}`);
  const many = Array.from({ length: 10 }, (_, index) => long(index));
  const [taken] = await take({ jobTableBytesMax: 1_000 }, [many]);
  expect(taken).toMatchObject({ jobId: 'j' });
  const [refused] = await take({ jobTableBytesMax: 1_000 }, [[...many, long(10)]]);
  expect(refused).toMatchObject({ field: 'workflows', isTooLarge: true });
  expect((refused as { detail: string }).detail).toContain('jobTableBytesMax 1000');
});
