/**
 * Moves of messages: kept ones in the order of their lane and once, the others in any order, each once, or
 * twice where the world has a copy left to make.
 *
 * The engine drops what comes twice of a kept message, so there is no move for it. A refusal of a
 * kept message is heard by its sender before what it sent after it leaves.
 */

import type { Cast } from './cast.ts';
import { type Move, made } from './move.ts';
import { nameOf, receiverOf, senderOf, type Turns } from './turns.ts';
import type { World } from './world.ts';

export class Deliveries {
  readonly #cast: Cast;
  readonly #turns: Turns;

  constructor(cast: Cast, turns: Turns) {
    this.#cast = cast;
    this.#turns = turns;
  }

  *kept(world: World): Generator<Move> {
    for (const [lane, [head]] of world.lanes.entries()) {
      if (head === undefined) continue;
      const move = this.#toActor(world, lane);
      if (move !== undefined) yield move;
    }
  }

  *hints(world: World): Generator<Move> {
    for (const [index, hint] of world.hints.entries()) {
      const message = hint >> 2;
      const who = receiverOf(this.#cast.messages.get(message).lane);
      const take = (next: World) =>
        this.#turns.isActive(next, who) ? this.#turns.take(next, who, message) : undefined;
      const text = this.#textOf(message);
      yield made(world, `${text} arrives`, (next) => {
        next.hints.splice(index, 1);
        return take(next);
      });
      const isCopied = hint % 2 === 1;
      if (world.copies === 0 || isCopied || !this.#turns.isActive(world, who)) continue;
      yield made(world, `${text} arrives, and will come again`, (next) => {
        next.copies -= 1;
        next.hints[index] = hint + 1;
        return take(next);
      });
    }
  }

  /** The head of a lane to a job or to the gate. */
  #toActor(world: World, lane: number): Move | undefined {
    const head = world.lanes[lane]?.[0] as number;
    const message = head >> 1;
    const [from, who] = [senderOf(lane), receiverOf(lane)];
    const state = this.#turns.stateOf(world, who);
    if (head % 2 === 1 || state?.isDone === true) {
      const code = head % 2 === 1 ? 'ACTOR_UNKNOWN' : 'ACTOR_ENDED';
      return this.#refused(world, lane, from, message, code);
    }
    if (!this.#turns.isUp(world, who)) return undefined;
    const text = this.#textOf(message);
    if (state === undefined)
      return made(world, `${text} finds nobody`, (next) => {
        (next.lanes[lane] as number[])[0] = head + 1;
        return undefined;
      });
    return made(world, `${text} arrives`, (next) => {
      shift(next, lane);
      return this.#turns.take(next, who, message);
    });
  }

  /** Its sender hears that the message was refused for good; one that has ended does not listen. */
  #refused(
    world: World,
    lane: number,
    from: number,
    message: number,
    code: string,
  ): Move | undefined {
    if (!this.#turns.isUp(world, from)) return undefined;
    const text = `${this.#textOf(message)} is refused: ${code}`;
    return made(world, text, (next) => {
      shift(next, lane);
      if (!this.#turns.isActive(next, from)) return undefined;
      const { event } = this.#cast.messages.get(message);
      const to = this.#cast.addressOf(lane);
      return this.#turns.tell(next, from, { type: 'message.refused', to, event, code });
    });
  }

  #textOf(message: number): string {
    const { event, lane } = this.#cast.messages.get(message);
    const detail = detailOf(event);
    return `${event.type}${detail} from ${nameOf(senderOf(lane))} to ${nameOf(receiverOf(lane))}`;
  }
}

/** The fields that decide the fate of a message. */
function detailOf(event: { readonly type: string; readonly [field: string]: unknown }): string {
  const told = ['status', 'reason', 'decisionEpoch', 'leaderFence', 'ackOf', 'state', 'reportSeq'];
  const fields = told
    .filter((name) => event[name] !== undefined && event[name] !== null)
    .map((name) => `${name} ${event[name]}`);
  return fields.length === 0 ? '' : ` (${fields.join(', ')})`;
}

/** The head of a lane has arrived; one that is empty is late no more. */
function shift(world: World, lane: number): void {
  const messages = world.lanes[lane] as number[];
  messages.shift();
  if (messages.length === 0) world.late &= ~(1 << lane);
}
