/**
 * The marks of a batch that are not plain to see: that they are reached by what they say and by
 * nothing that looks like it.
 */

import { describe, expect, test } from 'vitest';
import { MarkWatch } from '../../simulator/jobs/marks.ts';
import { frame, history, type Story, started } from './invariants/builders.ts';
import { JOBS_FACTS } from './invariants/tale.ts';

describe('a frame came twice, the second time to another life of its node', () => {
  const sent = [{ from: 'job/j1@A', to: 'job/j2@B', counter: 1 }];
  const whole = { envelopes: sent, receipts: [{ from: 'job/j2@B', to: 'job/j1@A', counter: 4 }] };
  const of = (parts: Parameters<typeof frame>[1]) => (change: Parameters<typeof frame>[2]) =>
    frame('b-1', parts, change);
  const original = of(whole);
  /** Receipts do not outlive their connection. */
  const copy = of({ envelopes: sent });
  const greeting = of({});
  const isMarked = ({ records }: Story) => {
    const marks = new MarkWatch(JOBS_FACTS);
    for (const record of records) marks.see(record);
    return marks.reached.includes('duplicateAfterRestart');
  };
  const begun = () => history().add('b-1', started());

  test.each([
    ['with another text', original, copy],
    ['with the same text', copy, copy],
  ])('reached: by a copy %s', (_, first, second) => {
    const story = begun().add('a-1', first('sent'), second('repeated'), first('delivered'));
    expect(isMarked(story)).toBe(false);
    expect(isMarked(story.add('b-1', started(2)).add('a-1', second('delivered')))).toBe(true);
  });

  test('not reached: both came to one life', () => {
    const story = begun().add('a-1', copy('sent'), copy('repeated'), copy('delivered'));
    story.add('a-1', copy('delivered')).add('b-1', started(2));
    expect(isMarked(story)).toBe(false);
  });

  test('not reached: the frame itself was lost', () => {
    const story = begun().add('a-1', copy('sent'), copy('repeated'), copy('lost'));
    story.add('b-1', started(2)).add('a-1', copy('delivered'));
    expect(isMarked(story)).toBe(false);
  });

  test('not reached: the node said the same again', () => {
    for (const said of [greeting, copy]) {
      const story = begun().add('a-1', said('sent'), said('repeated'), said('delivered'));
      story.add('b-1', started(2)).add('a-1', said('sent'), said('delivered'), said('delivered'));
      expect(isMarked(story)).toBe(false);
    }
  });

  test('not reached: nothing was repeated', () => {
    const story = begun().add('a-1', copy('sent'), copy('delivered')).add('b-1', started(2));
    expect(isMarked(story.add('a-1', copy('delivered')))).toBe(false);
  });
});
