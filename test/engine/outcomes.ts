/** Outcomes of calls, while virtual time is let pass: a value, or the code of the error. */

import type { Store } from '../../runtime/ports/store.ts';
import type { TestRuntime } from '../../simulator/testing.ts';

/** What of a record these tests look at. */
export interface StoredActor {
  readonly turns: number;
  readonly at: number;
  readonly snapshot: { readonly value: unknown; readonly context: Record<string, unknown> };
  readonly timers?: ReadonlyArray<readonly [id: string, dueAt: number]>;
  readonly outbox?: readonly unknown[];
  readonly effects?: readonly unknown[];
  readonly counter?: number;
  readonly status?: string;
}

/** What is needed of a test runtime to let time pass. */
export type Passing = Pick<TestRuntime, 'settle' | 'advance'>;

/** Lets time pass until the call has ended, and gives what it resolved with. */
export async function during<T>(rt: Passing, call: Promise<T>): Promise<T> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  call.then(over, over);
  await rt.settle();
  for (let step = 0; !isOver && step < 20_000; step += 1) await rt.advance(1);
  if (!isOver) throw new Error('The call has not ended after 20 s of virtual time.');
  return call;
}

/** The code a call rejects with; `taken` when it does not. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'taken';
  } catch (thrown) {
    return (thrown as { code?: string }).code ?? `untyped: ${String(thrown)}`;
  }
}

/** The code a function throws; `done` when it does not. */
export function codeOfThrown(call: () => unknown): string {
  try {
    call();
    return 'done';
  } catch (thrown) {
    return (thrown as { code?: string }).code ?? `untyped: ${String(thrown)}`;
  }
}

/** The stored record of an actor, unpacked. */
export function storedOf(store: Pick<Store, 'load'>, address: string): StoredActor {
  return JSON.parse(store.load(address) ?? 'null');
}
