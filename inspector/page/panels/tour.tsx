/**
 * The demo's bar: a tour of five steps through what the page can do, dismissed for good, and the demo's faults.
 */

import { signal } from '@preact/signals';
import { can } from '../core/live.ts';
import { go, href } from '../core/route.ts';
import { Faults } from './commands.tsx';

const STEPS: ReadonlyArray<{ readonly text: string; readonly to: string }> = [
  {
    text: 'Jobs come in all the time. The overview says what goes on, and what needs somebody: each number leads to its list.',
    to: href('overview'),
  },
  {
    text: 'These are the jobs, the next deadline first. Open one: its chart lights the states it is in, and its deadlines count down on their edges.',
    to: href('actors', '', { kind: 'job', status: 'active', sort: 'deadline' }),
  },
  {
    text: 'Some jobs ask for more time. Open one and choose Why: the sum of its deadline has each extension, granted or denied, and why.',
    to: href('actors', '', { kind: 'job', extensionsMin: '1' }),
  },
  {
    text: 'A worker falls silent: its health is an actor too. Its chart shows how long it may stay so, and what happens then.',
    to: href('actors', '', { kind: 'worker-health' }),
  },
  {
    text: 'A leader dies: press the button below. Another takes over with a greater fence, and every deadline is kept. Timeouts shows what came of it.',
    to: href('timeouts'),
  },
];

const KEPT_AS = 'escapement-tour';
const step = signal(remembered());

const FAULTS = [
  ['worker', 'Kill a worker'],
  ['leader', 'Kill a leader'],
  ['gate', 'Cut off the gate'],
  ['stall', 'Let a job stall'],
] as const;

export function DemoBar() {
  const isTour = can('tour') && step.value >= 0;
  if (!isTour && !can('faults')) return null;
  const at = STEPS[step.value];
  return (
    <footer class="demo-bar">
      {isTour && at !== undefined && (
        <div class="tour" role="region" aria-label="Tour">
          <b>
            {step.value + 1} of {STEPS.length}
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
          {step.value < STEPS.length - 1 ? (
            <button
              type="button"
              onClick={() => {
                to(step.value + 1);
                go(STEPS[step.value]?.to ?? '');
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
