import { describe, expect, test } from 'vitest';
import { submissionPartMachine } from '../../../machines/jobs/submission-part.ts';
import { WorkerStepper } from './worker-stepper.ts';

const workflow = { id: 'w1', handler: 'sleep', payload: 'p', cores: 1, dependsOn: [] };
const kept = () => new WorkerStepper(submissionPartMachine, { workflows: [workflow], keepMs: 100 });
const standing = ({ value, snapshot: { status, context } }: WorkerStepper) => [
  value,
  status,
  context.workflows,
];

describe('a part of a submission', () => {
  test('is dropped with its workflows when its job is told everywhere', () => {
    const part = kept().advance(40);
    expect(standing(part)).toEqual(['kept', 'active', [workflow]]);
    expect(standing(part.take({ type: 'page.dropped' }))).toEqual(['dropped', 'done', []]);
  });

  test('that nobody drops goes at the end of its time, and not before', () => {
    const part = kept().advance(99);
    expect(standing(part)).toEqual(['kept', 'active', [workflow]]);
    expect(standing(part.advance(1))).toEqual(['dropped', 'done', []]);
  });

  test('goes by no word of anybody else', () => {
    expect(standing(kept().take({ type: 'page.kept' }))).toEqual(['kept', 'active', [workflow]]);
  });
});
