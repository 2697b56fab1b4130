/**
 * Messages of a recording, paired by their identity: who sent which, whether and when it was taken, and what befell it
 * on its way. Pure.
 */

import type { MessageLine, RecordedLine } from '../protocol.ts';
import { FENCED, timeOf } from '../turn-lines.ts';

type Of<TType extends RecordedLine['type']> = Extract<RecordedLine, { type: TType }>;
type Fate = Of<'fate'>['fate'];

const WORDS: Readonly<Record<Fate, string>> = {
  lost: 'lost',
  repeated: 'delivered twice',
  held: 'held up',
  damaged: 'damaged',
  fenced: FENCED,
};

export class RecordedMessages {
  readonly #messages = new Map<string, MessageLine>();
  readonly #fates = new Map<string, Map<Fate, number>>();
  readonly #fencedAt = new Map<string, number>();
  #hasSent = false;

  /** False where the recording says nothing of what was sent: then turns alone tell. */
  get areKnown(): boolean {
    return this.#hasSent;
  }

  sent({ from, counter, to, event, sort, at }: Of<'message'>, turn: number | undefined): void {
    this.#hasSent = true;
    const key = keyOf(from, counter);
    const known = this.#messages.get(key);
    // A sender that repeats what a crash had undone means the same message.
    if (known?.sentAt !== undefined) return;
    this.#messages.set(key, {
      outcome: 'underWay',
      ...known,
      ...{ from, to, counter, type: event, sort, sentAt: at },
      ...(turn !== undefined && { sentTurn: turn }),
    });
  }

  taken({ from, counter, address, event, at, turn, error }: Of<'turn'>): void {
    if (from === undefined || counter === undefined || counter === 0 || !from.includes('@')) return;
    const key = keyOf(from, counter);
    const known = this.#messages.get(key);
    this.#messages.set(key, {
      ...{ from, to: address, counter, type: event.type, sort: 'tell' },
      ...known,
      takenAt: at,
      takenTurn: turn,
      outcome: error === undefined ? 'taken' : 'refused',
      ...(error !== undefined && { why: error.message }),
    });
  }

  befell({ from, counter, to, fate, at, event }: Of<'fate'>): void {
    const key = keyOf(from, counter);
    if (fate === 'fenced') this.#fencedAt.set(key, at);
    // Its sender is at another node, which may not be recorded.
    if (event !== undefined && !this.#messages.has(key)) {
      this.#hasSent = true;
      const message = {
        from,
        to,
        counter,
        type: event,
        sort: 'tell',
        outcome: 'underWay',
      } as const;
      this.#messages.set(key, message);
    }
    const fates = this.#fates.get(key) ?? new Map<Fate, number>();
    this.#fates.set(key, fates);
    fates.set(fate, (fates.get(fate) ?? 0) + 1);
  }

  /** Of these actors, in the order in which they were sent. */
  of(addresses: ReadonlySet<string>): MessageLine[] {
    const found: MessageLine[] = [];
    for (const [key, message] of this.#messages) {
      if (!addresses.has(message.from) && !addresses.has(message.to)) continue;
      found.push(this.#told(key, message));
    }
    return found.sort((one, other) => timeOf(one) - timeOf(other));
  }

  #told(key: string, message: MessageLine): MessageLine {
    const fates = this.#fates.get(key);
    if (fates === undefined || message.outcome === 'refused') return message;
    const why = [...fates]
      .map(([fate, times]) => (times === 1 ? WORDS[fate] : `${WORDS[fate]} ${times} times`))
      .join(', ');
    const isGone = fates.has('lost') || fates.has('damaged');
    if (message.outcome === 'underWay' && fates.has('fenced'))
      return { ...message, outcome: 'fenced', why, fencedAt: this.#fencedAt.get(key) ?? 0 };
    if (message.outcome === 'underWay')
      return isGone ? { ...message, outcome: 'lost', why } : { ...message, why };
    // What was lost and taken all the same was sent again.
    return {
      ...message,
      outcome: isGone || fates.has('repeated') || fates.has('fenced') ? 'repeated' : 'late',
      why,
    };
  }
}

const keyOf = (from: string, counter: number): string => `${counter} ${from}`;
