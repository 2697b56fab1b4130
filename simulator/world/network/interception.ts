/**
 * Rules on single messages of a simulated network: lose them, repeat them, hold them up.
 *
 * A rule opens the frames that are sent while it holds and acts on the messages in them, the
 * first that fits each; everything else goes on in the order it had. Receipts and greetings
 * are no messages: a plan that wants those lost cuts the link.
 */

import { decodeFrame, encodeFrame } from '../../../runtime/delivery.ts';

/** Nodes by name, or by whatever their names have in common. */
export type Nodes = string | readonly string[] | ((node: string) => boolean);

export type InterceptionAction =
  | 'drop'
  /** Delivers it that often again, each time after a delay of its own. */
  | { readonly duplicate: number }
  /** Delivers it that much later, when others have overtaken it. */
  | { readonly holdMs: number }
  /** Changes what it says. */
  | { readonly alter: (event: InterceptedEvent) => InterceptedEvent };

/** The event of a message, as it travels. */
export type InterceptedEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

export interface InterceptionRule {
  /** Messages from one side to the other, in either direction. */
  readonly between: readonly [Nodes, Nodes];
  /** Type of the event; without it every message counts. */
  readonly type?: string;
  /** What it has to say besides. */
  readonly where?: (event: InterceptedEvent) => boolean;
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

/** The fate of a frame, or of a part of it. */
export interface PassedFrame {
  readonly frame: string;
  /**
   * `sent`: it goes on in its order. `repeated` and `held` need not keep their place among the
   * others. `lost` goes nowhere.
   */
  readonly change: 'sent' | 'lost' | 'repeated' | 'held';
  /** How much later than one that nobody touches. */
  readonly holdMs: number;
}

export function matchesNode(nodes: Nodes, node: string): boolean {
  if (typeof nodes === 'function') return nodes(node);
  return typeof nodes === 'string' ? nodes === node : nodes.includes(node);
}

/** Whether one of the two is on the one side and the other on the other. */
export function isBetween(
  [side, other]: readonly [Nodes, Nodes],
  one: string,
  another: string,
): boolean {
  return (
    (matchesNode(side, one) && matchesNode(other, another)) ||
    (matchesNode(other, one) && matchesNode(side, another))
  );
}

export class Interceptions {
  readonly #rules = new Set<Rule>();

  get isEmpty(): boolean {
    return this.#rules.size === 0;
  }

  clear(): void {
    this.#rules.clear();
  }

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

  /** The fate of a frame that `from` sends to `to`. */
  pass(from: string, to: string, frame: string): readonly PassedFrame[] {
    const rules = [...this.#rules].filter((rule) => rule.isBetween(from, to));
    const whole: PassedFrame[] = [{ frame, change: 'sent', holdMs: 0 }];
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
      passed.unshift({ frame: rest, change: 'sent', holdMs: 0 });
    }
    return passed;
  }

  #act(rule: Rule, envelope: string, kept: string[], passed: PassedFrame[]): void {
    rule.hits += 1;
    const { action } = rule;
    const alone = encodeFrame([envelope], []);
    if (action === 'drop') {
      passed.push({ frame: alone, change: 'lost', holdMs: 0 });
      return;
    }
    if ('alter' in action) {
      const altered = JSON.parse(envelope) as { event: InterceptedEvent };
      kept.push(JSON.stringify({ ...altered, event: action.alter(altered.event) }));
      return;
    }
    if ('holdMs' in action) {
      passed.push({ frame: alone, change: 'held', holdMs: action.holdMs });
      return;
    }
    kept.push(envelope);
    for (let copy = 0; copy < action.duplicate; copy++)
      passed.push({ frame: alone, change: 'repeated', holdMs: 0 });
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
    return isBetween(this.#rule.between, from, to);
  }

  takes(envelope: unknown): boolean {
    const { type, where, count = Number.POSITIVE_INFINITY } = this.#rule;
    if (this.hits >= count) return false;
    const { event } = envelope as { readonly event: InterceptedEvent };
    return (type === undefined || event.type === type) && (where === undefined || where(event));
  }
}
