import { describe, expect, test } from 'vitest';
import { failedItemMachine } from '../../../machines/mapreduce/failed-item.ts';
import { WorkerStepper } from '../../jobs/machines/worker-stepper.ts';

const failing = (attempts: readonly number[], more: object = {}) => ({
  type: 'failures.recorded',
  ...{ runId: 'r1', itemIndex: 3, agentId: 'agent-3-1', timeout: null },
  failures: attempts.map((attemptNumber) => ({ attemptNumber })),
  ...more,
});
const empty = () => new WorkerStepper(failedItemMachine, { workflow: 'w', itemId: 'item-3' });
const listed = () => empty().take(failing([1, 2]));
const attemptsIn = ({ snapshot }: WorkerStepper): readonly number[] =>
  snapshot.context.history.map((each: { attemptNumber: number }) => each.attemptNumber);

describe('a failed item', () => {
  test('begins without a failure, and is nobody’s yet', () => {
    const { value, snapshot } = empty();
    expect(value).toBe('empty');
    expect(snapshot.context).toEqual({
      ...{ workflow: 'w', itemId: 'item-3', runId: null, itemIndex: 0, agentId: null },
      ...{ history: [], timeout: null },
    });
  });

  test('is listed with its failures, and with those of later runs behind them', () => {
    const item = listed();
    expect([item.value, attemptsIn(item)]).toEqual(['listed', [1, 2]]);
    expect(item.snapshot.context).toMatchObject({ runId: 'r1', itemIndex: 3, timeout: null });
    const timeout = { kind: 'agent' };
    item.take(failing([1], { runId: 'r2', itemIndex: 0, agentId: 'agent-0-1', timeout }));
    expect([item.value, attemptsIn(item)]).toEqual(['listed', [1, 2, 1]]);
    const { runId, itemIndex, agentId, timeout: kept } = item.snapshot.context;
    expect([runId, itemIndex, agentId, kept]).toEqual(['r2', 0, 'agent-0-1', timeout]);
  });

  test.each(['record.resolved', 'record.purged'])('is removed by %s, with its history', (type) => {
    const item = listed().take({ type });
    expect([item.value, item.snapshot.status]).toEqual(['removed', 'done']);
    expect(attemptsIn(item)).toEqual([1, 2]);
  });

  test('that has none can be resolved and not purged', () => {
    const purged = empty().take({ type: 'record.purged' });
    expect([purged.value, purged.snapshot.status]).toEqual(['empty', 'active']);
    const resolved = empty().take({ type: 'record.resolved' });
    expect([resolved.value, resolved.snapshot.status]).toEqual(['removed', 'done']);
  });
});
