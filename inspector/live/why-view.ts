/**
 * Evidence of this node's actors for explanations.
 */

import { RuntimeError } from '../../runtime/base/errors.ts';
import { redacted } from '../shown.ts';
import { enteredAt } from '../turn-lines.ts';
import type { Evidence } from '../why.ts';
import { deadlineOf } from './actor-view.ts';
import type { NodeViews } from './node-views.ts';

const TURNS_READ = 200;
/** A context that is larger is left out of evidence: nothing of it travels. */
const CONTEXT_BYTES_MAX = 128 * 1024;

/** Undefined when there is no such actor here. */
export function evidenceHere(
  { context, fenced: kept }: Pick<NodeViews, 'context' | 'fenced'>,
  address: string,
): Evidence | undefined {
  if (!context.isHere(address))
    throw new RuntimeError('NOT_HOSTED', `${address} is not hosted by this node.`);
  const report = context.watch.report(address);
  if (report === undefined) return undefined;
  const turns = context.turns(address, TURNS_READ);
  const entered = enteredAt(turns, report.active);
  const chart = context.definition(report.kind)?.chart;
  const { kind, status, state, turnAt, stopReason } = report;
  const fenced = kept.to(address);
  const size = JSON.stringify(report.context)?.length ?? 0;
  return {
    address,
    kind,
    node: context.node,
    status,
    state,
    turnAt,
    ...(stopReason !== undefined && { stopReason }),
    ...(size <= CONTEXT_BYTES_MAX && { context: redacted(report.context, context.rules.redact) }),
    deadlines: report.deadlines.map((deadline) => deadlineOf(deadline, report, entered, chart)),
    exits: report.exits,
    turns,
    ...(fenced.length > 0 && { fenced }),
    enteredAt: entered,
  };
}
