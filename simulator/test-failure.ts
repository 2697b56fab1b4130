/**
 * A test on a virtual clock that threw: its run is written as a page, and what it threw names the file.
 *
 * Guarantees: what the test threw stays what it is, whatever becomes of the page.
 */

import type { AnyStateMachine } from 'xstate';
import { messageOf } from '../runtime/base/errors.ts';
import type { InspectionReader } from '../runtime/base/inspection.ts';

export interface TestRecording {
  readonly read: InspectionReader;
  /** The process of the test died, or came back. */
  node(change: 'started' | 'crashed', at: number): void;
  /** What is to be thrown in place of what was. */
  failed(thrown: unknown, at: number): Promise<unknown>;
}

export interface RecordedTest {
  readonly page: string;
  readonly node: string;
  readonly place: string;
  readonly kinds: Readonly<Record<string, AnyStateMachine>>;
  readonly now: () => number;
}

/** Much more than a test is looked at. */
const LIMITS = { turnsMax: 20_000, bytesMax: 24 * 1_048_576 };

export async function recordTest(test: RecordedTest): Promise<TestRecording> {
  const { page, node, place, kinds, now } = test;
  const { Recorder } = await import('../inspector/recording/recorder.ts');
  const { definitionOf } = await import('../inspector/drawing/from-machine.ts');
  const { ownVersion } = await import('../inspector/version.ts');
  const definition = (kind: string) => {
    const machine = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
    return machine && { kind, version: 1, chart: definitionOf(machine) };
  };
  const recorder = new Recorder({ now, definition, node, place, version: ownVersion() }, LIMITS);
  const from = now();
  let life = 0;
  return {
    read: recorder.read,
    node: (change, at) => {
      if (change === 'started') life += 1;
      recorder.add({ type: 'node', at, node, change, life });
    },
    failed: async (thrown, to) => {
      try {
        const { testPage, writePage } = await import('../inspector/failure-page.ts');
        await writePage(page, testPage(recorder.lines(), thrown, { from, to }));
        return worded(thrown, `The run as a page: ${page}`);
      } catch (failure) {
        return worded(thrown, `The run could not be written as a page: ${messageOf(failure)}`);
      }
    },
  };
}

/** The same error, with a line more in its message. */
function worded(thrown: unknown, line: string): unknown {
  if (!(thrown instanceof Error)) return new Error(`${String(thrown)}\n${line}`, { cause: thrown });
  const { message, stack } = thrown;
  const told = `${message}\n\n${line}`;
  try {
    thrown.message = told;
    if (stack !== undefined) thrown.stack = stack.replace(message, () => told);
  } catch {
    // A frozen error is thrown as it is, with the line beside it.
    return new Error(told, { cause: thrown });
  }
  return thrown;
}
