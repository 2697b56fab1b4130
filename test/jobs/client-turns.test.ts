/** Questions of one client that look through everything: a few at once, and no other client waits for them. */

import { expect, test } from 'vitest';
import { ClientTurns } from '../../programs/jobs/jobs-service/client-turns.ts';

function scene(trusted: readonly string[] = ['A.manager-1', 'gate-1']) {
  const begun: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  const turns = new ClientTurns(trusted);
  const perform = turns.inTurn(
    ({ params }: { params: { replyTo: string; name: string }; signal: AbortSignal }) => {
      begun.push(params.name);
      return new Promise<void>((resolve, reject) => {
        ends.set(params.name, (failure) => (failure === undefined ? resolve() : reject(failure)));
      });
    },
  );
  const ask = (node: string, name: string, signal = new AbortController().signal) => {
    const asked = perform({ params: { replyTo: `ask/1@${node}`, name }, signal });
    asked.catch(() => {});
    return asked;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const end = async (name: string, failure?: Error): Promise<void> => {
    ends.get(name)?.(failure);
    await settled();
  };
  return { begun, ask, end, settled };
}

test('a client has two at once, whatever its connections are called, and the others in order', async () => {
  const { begun, ask, end, settled } = scene();
  for (const [node, name] of [
    ['ann~1', 'a'],
    ['ann~2', 'b'],
    ['ann~1', 'c'],
    ['ann~3', 'd'],
    ['bob~1', 'e'],
  ] as const)
    void ask(node, name);
  await settled();
  expect(begun).toEqual(['a', 'b', 'e']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'e', 'c']);
  await end('a', new Error('it cannot be read'));
  expect(begun).toEqual(['a', 'b', 'e', 'c', 'd']);
});

test('who speaks for others waits for nobody', async () => {
  const { begun, ask, settled } = scene();
  for (const name of ['a', 'b', 'c']) void ask('gate-1', name);
  for (const name of ['d', 'e', 'f']) void ask('A.manager-1', name);
  await settled();
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('what nobody may answer any more is not begun, and keeps nobody waiting', async () => {
  const { begun, ask, end, settled } = scene();
  const lost = new AbortController();
  void ask('ann~1', 'a');
  void ask('ann~1', 'b');
  void ask('ann~1', 'c', lost.signal);
  void ask('ann~1', 'd');
  await settled();
  lost.abort();
  await end('a');
  expect(begun).toEqual(['a', 'b', 'd']);
  // All have left: the next ones find an empty line.
  await end('b');
  await end('d');
  for (const name of ['e', 'f', 'g']) void ask('ann~1', name);
  await settled();
  expect(begun).toEqual(['a', 'b', 'd', 'e', 'f']);
});
