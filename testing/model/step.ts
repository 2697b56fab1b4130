/**
 * Steps of a test: what happens to a machine from outside, as data that can be stored, played against any
 * implementation, and told to a person.
 */

export interface SentEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type TestStep =
  /** An event; with `lateMs`, time has passed while it waited, and no deadline was taken meanwhile. */
  | { readonly type: 'send'; readonly event: SentEvent; readonly lateMs?: number }
  /** Time passes; every deadline on the way fires at its moment. */
  | { readonly type: 'advance'; readonly byMs: number }
  /** A promise, callback or observable that the machine runs ends; `child` is its path. */
  | { readonly type: 'resolve'; readonly child: string; readonly output?: unknown }
  | { readonly type: 'reject'; readonly child: string; readonly message: string }
  /** The process dies and comes back. */
  | { readonly type: 'restart' };

/** A test: the actor is spawned with the input, and the steps are taken one after the other. */
export interface TestCase {
  /** Name of the input among those that are tried. */
  readonly input: string;
  readonly title: string;
  readonly steps: readonly TestStep[];
}

/** A step in words. */
export function wordsOf(step: TestStep): string {
  switch (step.type) {
    case 'send': {
      const { type, ...fields } = step.event;
      const payload = Object.keys(fields).length === 0 ? '' : ` ${JSON.stringify(fields)}`;
      const late = step.lateMs === undefined ? '' : `, taken ${step.lateMs} ms late`;
      return `${type}${payload}${late}`;
    }
    case 'advance':
      return `${step.byMs} ms pass`;
    case 'resolve':
      return `"${step.child}" resolves${step.output === undefined ? '' : ` with ${JSON.stringify(step.output)}`}`;
    case 'reject':
      return `"${step.child}" rejects with "${step.message}"`;
    case 'restart':
      return 'the process restarts';
  }
}
