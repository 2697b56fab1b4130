/**
 * Rules on single messages of a simulated network: lose them, repeat them, hold them up.
 *
 * A rule opens the frames that are sent while it holds and acts on the messages in them, the
 * first that fits each; everything else goes on in the order it had. Receipts and greetings
 * are no messages: whoever wants those lost cuts the link.
 */

import { decodeFrame, encodeFrame } from '../runtime/wire.ts';

/** Nodes by name, or by whatever their names have in common. */
export type Nodes = string | readonly string[] | ((node: string) => boolean);

export type InterceptionAction =
  | 'drop'
  /** Delivers it that often again, each time after a delay of its own. */
  | { readonly duplicate: number }
  /** Delivers it that much later, when others have overtaken it. */
  | { readonly holdMs: number };

export interface InterceptionRule {
  /** Messages from one side to the other, in either direction. */
  readonly between: readonly [Nodes, Nodes];
  /** Type of the event; without it every message counts. */
  readonly type?: string;
  /** How many messages it acts on; without it all that follow. */
  readonly count?: number;
  readonly action: InterceptionAction;
}

export interface Interception {
  /** How many messages it has acted on. */
  readonly hits: number;
  /** Lets everything pass from now on. */
  end(): void;
}

/** A frame to be handed over, and how much later than one that nobody touches. */
export interface PassedFrame {
  readonly frame: string;
  readonly holdMs: number;
  /** False for a copy or a message held up: it need not keep its place among the others. */
  readonly isInOrder: boolean;
}

export function matchesNode(nodes: Nodes, node: string): boolean {
  if (typeof nodes === 'function') return nodes(node);
  return typeof nodes === 'string' ? nodes === node : nodes.includes(node);
}

export class Interceptions {
  readonly #rules = new Set<Rule>();

  add(rule: InterceptionRule): Interception {
    const added = new Rule(rule);
    this.#rules.add(added);
    return {
      get hits() {
        return added.hits;
      },
      end: () => void this.#rules.delete(added),
    };
  }

  /** What becomes of a frame that `from` sends to `to`. */
  pass(from: string, to: string, frame: string): readonly PassedFrame[] {
    const rules = [...this.#rules].filter((rule) => rule.isBetween(from, to));
    const whole = [{ frame, holdMs: 0, isInOrder: true }];
    if (rules.length === 0) return whole;
    const { hello, envelopes, receipts } = decodeFrame(frame);
    if (hello !== undefined || envelopes.length === 0) return whole;
    const kept: string[] = [];
    const passed: PassedFrame[] = [];
    for (const envelope of envelopes) {
      const text = JSON.stringify(envelope);
      const rule = rules.find((one) => one.takes(envelope));
      if (rule === undefined) kept.push(text);
      else this.#act(rule, text, kept, passed);
    }
    if (kept.length + receipts.length > 0) {
      const rest = encodeFrame(
        kept,
        receipts.map((receipt) => JSON.stringify(receipt)),
      );
      passed.unshift({ frame: rest, holdMs: 0, isInOrder: true });
    }
    return passed;
  }

  #act(rule: Rule, envelope: string, kept: string[], passed: PassedFrame[]): void {
    rule.hits += 1;
    const { action } = rule;
    const alone = encodeFrame([envelope], []);
    if (action === 'drop') return;
    if ('holdMs' in action) {
      passed.push({ frame: alone, holdMs: action.holdMs, isInOrder: false });
      return;
    }
    kept.push(envelope);
    for (let copy = 0; copy < action.duplicate; copy++)
      passed.push({ frame: alone, holdMs: 0, isInOrder: false });
  }
}

class Rule {
  readonly action: InterceptionAction;
  hits = 0;
  readonly #rule: InterceptionRule;

  constructor(rule: InterceptionRule) {
    this.#rule = rule;
    this.action = rule.action;
  }

  isBetween(from: string, to: string): boolean {
    const [one, other] = this.#rule.between;
    return (
      (matchesNode(one, from) && matchesNode(other, to)) ||
      (matchesNode(other, from) && matchesNode(one, to))
    );
  }

  takes(envelope: unknown): boolean {
    const { type, count = Number.POSITIVE_INFINITY } = this.#rule;
    if (this.hits >= count) return false;
    return type === undefined || (envelope as { event?: { type?: unknown } }).event?.type === type;
  }
}
