/** The outbox against a plain list of rows. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Outbox } from '../../runtime/actor/outbox.ts';

const RECEIVERS = ['order/a@x', 'order/b@x', 'order/c@y'];

interface Row {
  readonly counter: number;
  readonly to: string;
}

function rowsOf(outbox: Outbox): Row[] {
  return [...outbox.lanes()].flatMap(({ rows }) =>
    rows.map(({ counter, to }) => ({ counter, to })),
  );
}

function again(outbox: Outbox): Outbox {
  const text = outbox.encode();
  return new Outbox(outbox.counter, text === '' ? [] : JSON.parse(text));
}

const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), pick: fc.nat(2) }),
  fc.record({ do: fc.constant('settle' as const), pick: fc.nat() }),
  fc.record({ do: fc.constant('restore' as const), pick: fc.nat() }),
  fc.record({ do: fc.constant('rollBack' as const), pick: fc.nat(5) }),
);

test('keeps every row until it is settled, in the order of sending for each receiver', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let outbox = new Outbox();
      let model: Row[] = [];
      let counter = 0;
      for (const { do: what, pick } of steps) {
        if (what === 'add') {
          const to = RECEIVERS[pick] as string;
          counter += 1;
          model.push({ counter, to });
          expect(outbox.add(to, { type: 'e' }).counter).toBe(counter);
        } else if (what === 'settle' && model.length > 0) {
          const [gone] = model.splice(pick % model.length, 1);
          expect(outbox.settle((gone as Row).to, (gone as Row).counter)).toMatchObject(gone as Row);
          expect(outbox.settle((gone as Row).to, (gone as Row).counter)).toBeUndefined();
        } else if (what === 'restore') {
          outbox = again(outbox);
          expect(outbox.durable).toBe(counter);
        } else if (what === 'rollBack') {
          counter = Math.max(0, counter - pick);
          model = model.filter((row) => row.counter <= counter);
          outbox.rollBack(counter);
        }
        expect(outbox.size).toBe(model.length);
        for (const to of RECEIVERS) {
          const wanted = model.filter((row) => row.to === to);
          expect(rowsOf(outbox).filter((row) => row.to === to)).toEqual(wanted);
        }
      }
      expect(outbox.encode() === '').toBe(model.length === 0);
    }),
  );
});

test('names for each row the one before it in its lane, and nothing for the first', () => {
  const outbox = new Outbox(10);
  for (const to of ['a@x', 'b@x', 'a@x', 'a@x', 'b@x']) outbox.add(to, { type: 'e' });
  const lane = outbox.lane('a@x');
  expect([0, 1, 2].map((index) => lane?.before(index))).toEqual([0, 11, 13]);
  outbox.settle('a@x', 11);
  expect([0, 1].map((index) => lane?.before(index))).toEqual([0, 13]);
});

test('counts what is under way also when something in the middle is settled', () => {
  const outbox = new Outbox();
  for (let count = 0; count < 5; count += 1) outbox.add('a@x', { type: 'e' });
  const lane = outbox.lane('a@x');
  if (lane === undefined) throw new Error('no lane');
  lane.underWay = 3;
  outbox.settle('a@x', 2);
  expect(lane.underWay).toBe(2);
  outbox.settle('a@x', 5);
  expect(lane.underWay).toBe(2);
});

test('an event that has no JSON leaves the outbox as it was', () => {
  const outbox = new Outbox(3);
  expect(() => outbox.add('a@x', { type: 'e', big: 1n } as never)).toThrow(TypeError);
  expect(outbox).toMatchObject({ counter: 3, size: 0 });
});
