/**
 * Plot of a series: bars of equal steps that end now, with the value under the pointer. What is not known yet of the
 * time that it is for is empty.
 */

import { useSignal } from '@preact/signals';
import type { Series } from '../../protocol.ts';
import { count, duration } from '../core/words.ts';

const WIDTH = 240;
const HEIGHT = 40;

export function Plot({
  title,
  series,
  windowMs = 0,
  sort = '',
}: {
  title: string;
  series: Series;
  /** Time that it is for. */
  windowMs?: number;
  sort?: string;
}) {
  const at = useSignal(-1);
  const { values, stepMs } = series;
  const most = Math.max(...values, 1e-9);
  const steps = Math.max(1, values.length, Math.round(windowMs / Math.max(1, stepMs)));
  const unknown = steps - values.length;
  const step = WIDTH / steps;
  const shown = at.value >= 0 && at.value < values.length ? at.value : values.length - 1;
  const perSecond = (value: number): string => {
    const rate = (value / stepMs) * 1_000;
    return rate >= 10 || rate === 0 ? count(Math.round(rate)) : rate.toFixed(rate < 0.1 ? 3 : 1);
  };
  const path = values
    .map((value, index) => {
      const height = Math.max(value > 0 ? 1 : 0, (value / most) * HEIGHT);
      return `M${((unknown + index) * step).toFixed(1)} ${HEIGHT}v${-height.toFixed(1)}h${Math.max(0.5, step - 0.6).toFixed(1)}v${height.toFixed(1)}z`;
    })
    .join('');
  const total = values.reduce((sum, value) => sum + value, 0);
  const age = (values.length - 1 - shown) * stepMs;
  return (
    <figure class={`plot ${sort}`}>
      <figcaption>
        <span>{title}</span>
        <strong>
          {perSecond(values[shown] ?? 0)}
          <small> /s{age > 0 ? `, ${duration(age)} ago` : ''}</small>
        </strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${count(total)} in ${duration(values.length * stepMs)}, at most ${perSecond(most)} per second`}
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect();
          at.value = Math.floor(((event.clientX - left) / width) * steps) - unknown;
        }}
        onPointerLeave={() => {
          at.value = -1;
        }}
      >
        <path class="bars" d={path} />
        <path class="base" d={`M0 ${HEIGHT}h${WIDTH}`} />
      </svg>
    </figure>
  );
}
