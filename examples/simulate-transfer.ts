/**
 * Transfers between accounts in two places, with a mistake that no unit test shows: who hears no
 * answer asks again, and the account books again.
 *
 * Shows: `simulate`, which plays the same transfers on many seeds, with crashes, partitions, slow
 * disks and late frames, until money is made out of nothing; how it came to that, with as few steps
 * and faults as it takes; and that accounts which remember what they have booked hold.
 *
 *   npx tsx examples/simulate-transfer.ts
 */

import { assign, sendTo, setup } from 'xstate';
import { to } from '../runtime/machine.ts';
import { invariant, simulate } from '../simulator/index.ts';
import { testRuntime } from '../simulator/testing.ts';

/** `amount` is below zero for what is taken; `id` names the booking, no matter who asks for it again. */
type Booking = { type: 'account.book'; id: string; amount: number; for: string };

type TransferEvent = { type: 'booking.done'; id: string } | { type: 'booking.refused'; id: string };

interface Account {
  readonly opened: number;
  readonly balance: number;
  readonly booked: readonly string[];
}

export const forgetfulAccount = setup({
  types: {
    context: {} as Account,
    input: {} as { opened: number },
    events: {} as Booking,
  },
  actions: {
    book: assign({
      balance: ({ context, event }) => context.balance + event.amount,
      booked: ({ context, event }) => [...context.booked, event.id],
    }),
    confirm: sendTo(
      ({ event }) => to<TransferEvent>(event.for),
      ({ event }) => ({ type: 'booking.done', id: event.id }),
    ),
    refuse: sendTo(
      ({ event }) => to<TransferEvent>(event.for),
      ({ event }) => ({ type: 'booking.refused', id: event.id }),
    ),
  },
  guards: {
    // The mistake: nobody looks into `booked`.
    isBooked: () => false,
    isCovered: ({ context, event }) => context.balance + event.amount >= 0,
  },
}).createMachine({
  id: 'account',
  context: ({ input }) => ({ opened: input.opened, balance: input.opened, booked: [] }),
  on: {
    'account.book': [
      { guard: 'isBooked', actions: 'confirm' },
      { guard: 'isCovered', actions: ['book', 'confirm'] },
      { actions: 'refuse' },
    ],
  },
});

export const carefulAccount = forgetfulAccount.provide({
  guards: { isBooked: ({ context, event }) => context.booked.includes(event.id) },
});

interface Transfer {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly amount: number;
}

export const transferMachine = setup({
  types: { context: {} as Transfer, input: {} as Transfer, events: {} as TransferEvent },
  actions: {
    take: sendTo(
      ({ context }) => to<Booking>(context.from),
      ({ context, self }) => ({
        type: 'account.book',
        id: `${context.id}:take`,
        amount: -context.amount,
        for: self.id,
      }),
    ),
    give: sendTo(
      ({ context }) => to<Booking>(context.to),
      ({ context, self }) => ({
        type: 'account.book',
        id: `${context.id}:give`,
        amount: context.amount,
        for: self.id,
      }),
    ),
  },
  guards: {
    isTaken: ({ context, event }) => event.id === `${context.id}:take`,
    isGiven: ({ context, event }) => event.id === `${context.id}:give`,
  },
  delays: { answerLimit: 2_000 },
}).createMachine({
  id: 'transfer',
  context: ({ input }) => input,
  initial: 'taking',
  states: {
    taking: {
      entry: 'take',
      on: { 'booking.done': { guard: 'isTaken', target: 'giving' }, 'booking.refused': 'refused' },
      after: { answerLimit: { target: 'taking', reenter: true } },
    },
    giving: {
      entry: 'give',
      on: { 'booking.done': { guard: 'isGiven', target: 'given' } },
      after: { answerLimit: { target: 'giving', reenter: true } },
    },
    given: { type: 'final' },
    refused: { type: 'final' },
  },
});

type Kinds = { account: typeof forgetfulAccount; transfer: typeof transferMachine };

const noMoneyIsMade = invariant<Kinds>('no money is made, and none is lost', (run) => {
  const sum = (amounts: readonly number[]): number => amounts.reduce((all, one) => all + one, 0);
  const accounts = () => run.actors('account').map(({ context }) => context);
  const balances = () => sum(accounts().map(({ balance }) => balance));
  const opened = () => sum(accounts().map(({ opened }) => opened));
  return {
    // What was taken is given later, so meanwhile there may be less, and never more.
    turn: (record) => {
      if (record.kind === 'account')
        run.check(
          balances() <= opened(),
          `there are ${balances()} €, and ${opened()} € were paid in`,
          record,
        );
    },
    end: () => {
      const giving = run.actors('transfer').filter(({ value }) => value === 'giving');
      const onTheWay = sum(giving.map(({ context }) => context.amount));
      run.check(
        balances() + onTheWay === opened(),
        `there are ${balances()} €, ${onTheWay} € are on the way, and ${opened()} € were paid in`,
      );
    },
  };
});

export function simulateTransfers(account: typeof forgetfulAccount, seeds: number) {
  return simulate({
    kinds: { account, transfer: transferMachine },
    places: { north: { nodes: 2 }, south: { nodes: 1 } },
    workload: ({ chance, at, spawn }) => {
      at(0, 'open accounts', () =>
        Promise.all([
          spawn('account/ada@north', { input: { opened: 100 } }),
          spawn('account/bob@south', { input: { opened: 100 } }),
        ]),
      );
      for (let number = 1; number <= 5; number++) {
        const [from, to] = chance.shuffled(['account/ada@north', 'account/bob@south'] as const);
        const input = { id: `${number}`, from: from as string, to: to as string, amount: 10 };
        const when = chance.whole(1_000, 30_000);
        at(when, 'transfer', () => spawn(`transfer/${number}@north`, { input }));
      }
    },
    invariants: [noMoneyIsMade],
    seeds,
  });
}

/** What its author tried: one transfer, and nothing goes wrong. */
async function tryOut(): Promise<string> {
  await using bank = await testRuntime({
    kinds: { account: forgetfulAccount, transfer: transferMachine },
  });
  const ada = await bank.spawn('account/ada', { input: { opened: 100 } });
  const bob = await bank.spawn('account/bob', { input: { opened: 100 } });
  const [from, to] = [ada.address, bob.address];
  await bank.spawn('transfer/1', { input: { id: '1', from, to, amount: 10 } });
  await bank.advance('1m');
  const [left, right] = [ada, bob].map((account) => account.getSnapshot().context.balance);
  return `${left} € and ${right} €`;
}

export async function main(print: (line: string) => void = console.log): Promise<void> {
  print(`a transfer of 10 € by itself: ${await tryOut()}`);
  print('');
  const forgetful = await simulateTransfers(forgetfulAccount, 40);
  print(forgetful.text());
  print('');
  print('accounts that remember what they have booked:');
  const careful = await simulateTransfers(carefulAccount, 40);
  print(careful.text());
  careful.assertNone();
}

if (process.argv[1] === import.meta.filename) await main();
