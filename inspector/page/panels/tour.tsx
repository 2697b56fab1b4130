/**
 * The demo's bar: a tour of five steps through what the page can do, dismissed for good, and the demo's faults.
 */

import { signal } from '@preact/signals';
import { can, hello } from '../core/live.ts';
import { go, href } from '../core/route.ts';
import { Faults } from './commands.tsx';

/** Steps of the tour. `start` is the view on which the page has opened: that of the story's job. */
const stepsOf = (start: string): ReadonlyArray<{ readonly text: string; readonly to: string }> => [
  {
    text: 'This job has 20 s, and its work takes longer. Its deadlines count down on the edges of its chart. Soon its worker asks for more time: watch overallLimit jump.',
    to: start,
  },
  {
    text: 'Why: the sum of its time, each extension that was asked for, granted or denied, and everything that can end it next.',
    to: `${start}?tab=why`,
  },
  {
    text: 'Now its worker falls silent. The health of a worker is an actor too: its chart shows how long it may stay so, and what happens then.',
    to: href('actors', '', { kind: 'worker-health', place: 'A', sort: 'turnAt', order: 'desc' }),
  },
  {
    text: 'Then its leader is killed. The other manager takes over with a greater fence (see Nodes), and every deadline is kept.',
    to: href('overview'),
  },
  {
    text: 'It is yours now: make faults with the buttons below, and see here which deadlines came, and which come next.',
    to: href('timeouts'),
  },
];

const KEPT_AS = 'escapement-tour';
const step = signal(remembered());

/** The demo's keys do the same. */
const FAULTS = [
  ['worker', 'Stop a worker'],
  ['leader', 'Kill a leader'],
  ['partition', 'Partition / heal'],
  ['gate', 'Restart the gate'],
] as const;

export function DemoBar() {
  const isTour = can('tour') && step.value >= 0;
  if (!isTour && !can('faults')) return null;
  const steps = stepsOf(hello.value?.start ?? href('actors', '', { kind: 'job' }));
  const at = steps[step.value];
  return (
    <footer class="demo-bar">
      {isTour && at !== undefined && (
        <div class="tour" role="region" aria-label="Tour">
          <b>
            {step.value + 1} of {steps.length}
          </b>
          <p>{at.text}</p>
          <a class="button" href={at.to}>
            Show me
          </a>
          {step.value > 0 && (
            <button type="button" onClick={() => to(step.value - 1)}>
              Back
            </button>
          )}
          {step.value < steps.length - 1 ? (
            <button
              type="button"
              onClick={() => {
                to(step.value + 1);
                go(steps[step.value]?.to ?? '');
              }}
            >
              Next
            </button>
          ) : null}
          <button type="button" class="quiet" onClick={() => to(-1)}>
            End the tour
          </button>
        </div>
      )}
      <Faults names={FAULTS} />
    </footer>
  );
}

function to(next: number): void {
  step.value = next;
  try {
    localStorage.setItem(KEPT_AS, String(next));
  } catch {
    // Where nothing may be kept, the tour begins again with the page.
  }
}

function remembered(): number {
  try {
    return Number(localStorage.getItem(KEPT_AS) ?? 0);
  } catch {
    return 0;
  }
}
