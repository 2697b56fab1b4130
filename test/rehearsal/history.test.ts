/**
 * History states: what one remembers is part of a record, as the state is: a release that does not have it
 * is found out by a rehearsal, and refused by a node, instead of going to the default state.
 */

import { describe, expect, test } from 'vitest';
import { type AnyStateMachine, setup } from 'xstate';
import type { MigratedState } from '../../runtime/actor/kind.ts';
import type { ActorHandle } from '../../runtime/api/handle.ts';
import type { Rehearsal } from '../../runtime/rehearsal/rehearsal.ts';
import { linesOf, rehearseUpgrade, running, stored } from './releases.ts';

interface Shape {
  readonly charging?: string;
  readonly bank?: string;
  readonly last?: string;
  /** The id of the history state, where it has one of its own. */
  readonly lastId?: string;
  /** What is below the remembered state, or in its place. */
  readonly inner?: 'compound' | 'parallel' | 'history';
  readonly history?: 'shallow' | 'deep';
  /** What the machine is called. */
  readonly id?: string;
  /** Whether the remembered states have moved out of the state whose history it is. */
  readonly isMoved?: boolean;
}

/** `charging` is left by `hold` while it waits for the bank, and `resume` goes back to it. */
function shop(shape: Shape = {}): AnyStateMachine {
  const { charging = 'charging', bank = 'bank', last = 'last' } = shape;
  const { history = 'deep', id = 'shop', isMoved = false, lastId, inner = 'compound' } = shape;
  const below = { [bank]: {}, done: {} };
  const paying = {
    compound: { initial: bank, states: below },
    parallel: { type: 'parallel', states: below },
    history: { type: 'history' },
  }[inner];
  const remembered = { type: 'history', history, ...(lastId === undefined ? {} : { id: lastId }) };
  return setup({}).createMachine({
    id,
    initial: 'open',
    on: { pay: `#${escaped(id)}.${isMoved ? '' : 'open.'}${escaped(charging)}` },
    states: {
      open: {
        initial: 'cart',
        on: { hold: 'onHold' },
        states: { cart: {}, ...(isMoved ? {} : { [charging]: paying }), [last]: remembered },
      },
      ...(isMoved ? { [charging]: paying } : {}),
      onHold: { on: { resume: `open.${last}` } },
    },
  } as never) as never;
}

function escaped(name: string): string {
  return name.replaceAll('.', '\\.');
}

const HELD = { 'shop/1': ['pay', 'hold'] };

function gone(rehearsal: Rehearsal): string[] {
  return linesOf(rehearsal).filter((line) => !line.includes(' version-not-raised '));
}

async function rehearsed(old: Shape, next: Shape): Promise<string[]> {
  const [before, after] = [{ shop: shop(old) }, { shop: shop(next) }];
  return gone(rehearseUpgrade(await stored(before, HELD), before, after));
}

describe('a remembered state', () => {
  test.each<[string, Shape, Shape, string[]]>([
    ['that stays is no finding', {}, {}, []],
    [
      'that is renamed',
      {},
      { charging: 'paying' },
      ['The machine has no state "open.charging.bank"'],
    ],
    [
      'that is renamed, where it is shallow',
      { history: 'shallow' },
      { history: 'shallow', charging: 'paying' },
      ['The machine has no state "open.charging"'],
    ],
    [
      'below one that is remembered with it',
      {},
      { bank: 'teller' },
      ['The machine has no state "open.charging.bank"'],
    ],
    [
      'below one that is remembered alone, which then begins again',
      { history: 'shallow' },
      { history: 'shallow', bank: 'teller' },
      [],
    ],
    [
      'that moved out of the history, and so is remembered by nobody',
      {},
      { isMoved: true },
      ['The machine has no state "open.charging.bank"'],
    ],
    [
      'whose history state is renamed',
      {},
      { last: 'before' },
      ['The machine has no state "open.last"'],
    ],
    [
      'whose history state is given an id',
      {},
      { lastId: 'last' },
      ['The machine has no state "open.last"'],
    ],
    [
      'in whose place there is a history state',
      { history: 'shallow' },
      { history: 'shallow', inner: 'history' },
      ['The machine has no state "open.charging"'],
    ],
    [
      'beside another one that it would now be in instead',
      { inner: 'parallel' },
      {},
      ['The machine has no state "open.charging.done"'],
    ],
    [
      'of a machine that has another id',
      {},
      { id: 'store' },
      ['The machine has no state "shop.open.last", "shop.open.charging.bank"'],
    ],
  ])('%s', async (_, old, next, details) => {
    expect(await rehearsed(old, next)).toEqual(
      details.map((detail) => `shop state-gone 1 ${detail}`),
    );
  });

  test('of a child machine is named with it', async () => {
    const parent = (child: AnyStateMachine) => ({
      parent: setup({ actors: { child } }).createMachine({
        id: 'parent',
        invoke: { id: 'below', src: 'child' },
        on: {
          pay: { actions: ({ self }) => self.getSnapshot().children.below?.send({ type: 'pay' }) },
          hold: {
            actions: ({ self }) => self.getSnapshot().children.below?.send({ type: 'hold' }),
          },
        },
      }),
    });
    const old = parent(shop());
    const store = await stored(old, { 'parent/1': ['pay', 'hold'] });
    expect(gone(rehearseUpgrade(store, old, parent(shop({ charging: 'paying' }))))).toEqual([
      'parent state-gone 1 The machine has no state "below:open.charging.bank"',
    ]);
  });
});

describe('a node with the new machine', () => {
  test('refuses the record, instead of resuming in the first state', async () => {
    const store = await stored({ shop: shop() }, HELD);
    const runtime = await running({ shop: shop({ charging: 'paying' }) }, store);
    const resumed = runtime.actor('shop/1' as never).send({ type: 'resume' } as never);
    await expect(resumed).rejects.toMatchObject({ code: 'RECORD_INVALID' });
    await expect(resumed).rejects.toThrow('open.charging.bank');
    await runtime.stop();
  });

  test.each([{ id: 'shop.orders' }, { charging: 'charging.v2' }, { bank: 'first.bank' }])(
    'goes back to states with dots in their names: %o',
    async (shape) => {
      const { charging = 'charging', bank = 'bank' } = shape as Shape;
      const store = await stored({ shop: shop(shape) }, HELD);
      const runtime = await running({ shop: shop(shape) }, store);
      const actor: ActorHandle = runtime.actor('shop/1' as never);
      await actor.send({ type: 'resume' } as never);
      expect(actor.getSnapshot().value).toEqual({ open: { [charging]: bank } });
      await runtime.stop();
    },
  );

  test('goes on where a migration says', async () => {
    const store = await stored({ shop: shop() }, HELD);
    const renamed = ({ snapshot, timers }: MigratedState): MigratedState => ({
      snapshot: JSON.parse(JSON.stringify(snapshot).replaceAll('open.charging', 'open.paying')),
      timers,
    });
    const next = {
      shop: { machine: shop({ charging: 'paying' }), version: 2, migrate: { 2: renamed } },
    };
    expect(rehearseUpgrade(store, { shop: shop() }, next).holds).toBe(true);
    const runtime = await running(next, store);
    const actor: ActorHandle = runtime.actor('shop/1' as never);
    await actor.send({ type: 'resume' } as never);
    expect(actor.getSnapshot().value).toEqual({ open: { paying: 'bank' } });
    await runtime.stop();
  });
});
