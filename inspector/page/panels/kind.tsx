/**
 * Fleet of a kind: how many actors are in which state, for how long they stay, and which stay longest, on its chart.
 */

import type { FleetState, FleetView } from '../../protocol.ts';
import { useAnswer } from '../core/api.ts';
import { generation } from '../core/live.ts';
import { href, route, setParams } from '../core/route.ts';
import { count, duration, plain } from '../core/words.ts';
import { Chart } from '../parts/chart.tsx';
import { ActorLink, Ago, Empty, MissingNodes, Note } from '../parts/marks.tsx';
import { Windows } from '../parts/windows.tsx';
import { useDefinition } from './actor.tsx';

export function KindPanel() {
  const kind = route.value.subject;
  const window = route.value.params.get('window') ?? '5m';
  const { answer, error } = useAnswer<FleetView>(
    'fleet',
    { kind, window, round: String(generation.value) },
    2_000,
  );
  const { definition, error: noChart } = useDefinition(kind);
  if (noChart !== undefined && definition === undefined)
    return (
      <Empty title={`There is no chart of ${plain(kind)}`}>
        <p>{noChart}</p>
      </Empty>
    );
  const states = answer?.states.filter((state) => state.count > 0) ?? [];
  return (
    <div class="panel kind-panel">
      <header class="actor-head">
        <h2>{plain(kind)}</h2>
        <p class="actor-state">
          <a href={href('actors', '', { kind })}>List its actors</a>
          <Windows shown={window} />
        </p>
      </header>
      <MissingNodes missing={answer?.missing} />
      {error !== undefined && <Note sort="failed">{error}</Note>}
      <div class="actor-body chart">
        <div class="actor-main">
          {definition !== undefined && (
            <Chart
              definition={definition.chart}
              active={states.map(({ path }) => path)}
              words={wordsOf(states)}
              onState={(state) => setParams({ state })}
            />
          )}
        </div>
        <aside class="actor-side">
          <section aria-label="States">
            <h3>Where they are</h3>
            <StateTable states={states} />
            {answer !== undefined && states.length === 0 && (
              <p class="calm">It has no active actor.</p>
            )}
          </section>
          <Longest states={states} />
        </aside>
      </div>
    </div>
  );
}

/** Of states around others these say the same. */
function innermost(states: readonly FleetState[]): readonly FleetState[] {
  const isAround = (path: string): boolean =>
    states.some((other) => path === '' || other.path.startsWith(`${path}.`));
  return states.filter(({ path }) => !isAround(path));
}

function wordsOf(states: readonly FleetState[]) {
  return new Map(
    innermost(states).map(({ path, count: number, dwellP50Ms, dwellP99Ms, beyond }) => [
      path,
      {
        text: `${count(number)}${beyond.length > 0 ? ` (${beyond.length} too long)` : ''}`,
        title:
          dwellP50Ms === undefined
            ? ''
            : `half of them stay ${duration(dwellP50Ms)}, 99 % at most ${duration(dwellP99Ms ?? dwellP50Ms)}`,
        isLate: beyond.length > 0,
      },
    ]),
  );
}

function StateTable({ states }: { states: readonly FleetState[] }) {
  const named = innermost(states);
  if (named.length === 0) return null;
  return (
    <table class="exits">
      <thead>
        <tr>
          <th>State</th>
          <th class="number">Now</th>
          <th class="number" title="Half of those that left stayed no longer">
            p50
          </th>
          <th class="number">p99</th>
        </tr>
      </thead>
      <tbody>
        {named.map(({ path, count: number, dwellP50Ms, dwellP99Ms }) => (
          <tr key={path}>
            <td title={plain(path)}>{plain(path.split('.').slice(-2).join('.'))}</td>
            <td class="number">{count(number)}</td>
            <td class="number soft">{dwellP50Ms === undefined ? '' : duration(dwellP50Ms)}</td>
            <td class="number soft">{dwellP99Ms === undefined ? '' : duration(dwellP99Ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Longest({ states }: { states: readonly FleetState[] }) {
  const beyond = states.flatMap(({ path, beyond: each, dwellP999Ms }) =>
    each.map((one) => ({ ...one, path, dwellP999Ms })),
  );
  if (beyond.length === 0) return null;
  return (
    <section aria-label="Longer than usual">
      <h3>Longer than 99.9 % before them</h3>
      <ul class="lines">
        {beyond.slice(0, 20).map(({ address, since, path, dwellP999Ms }) => (
          <li key={`${address} ${path}`} class="late">
            <ActorLink address={address} />
            <small class="soft">
              {plain(path)}, since <Ago at={since} />
              {dwellP999Ms !== undefined && `, usually ${duration(dwellP999Ms)} at most`}
            </small>
          </li>
        ))}
      </ul>
    </section>
  );
}
