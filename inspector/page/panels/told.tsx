/**
 * Records of a simulated run in words: found by a text, those around a moment first, and only those on the screen
 * in the document.
 */

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ToldLine, ToldPage } from '../../protocol.ts';
import { ask } from '../core/api.ts';
import { filterField } from '../core/keys.ts';
import { actorHref, go } from '../core/route.ts';
import { count, moment, plain, timeOfDay } from '../core/words.ts';
import { Rows } from '../parts/rows.tsx';

const PAGE = 200;

export function ToldRows({ at, total, run }: { at: number; total: number; run?: 'other' }) {
  const text = useSignal('');
  const rows = useSignal<ReadonlyMap<number, ToldLine>>(new Map());
  const many = useSignal(total);
  const near = useSignal(-1);
  const take = (params: Record<string, string>): Promise<ToldPage> =>
    ask<ToldPage>('told', { ...params, text: text.peek(), run, limit: String(PAGE) }).then(
      (page) => {
        const next = new Map(rows.peek());
        page.rows.forEach((row, index) => {
          next.set(page.first + index, row);
        });
        rows.value = next;
        many.value = page.total;
        return page;
      },
    );
  useEffect(() => {
    rows.value = new Map();
    take({ around: String(at) }).then(
      ({ rows: found, first }) => {
        const index = found.findIndex((row) => row.at >= at);
        near.value = first + (index < 0 ? found.length - 1 : index);
      },
      () => {},
    );
  }, [text.value, run, at]);
  return (
    <div class="told">
      <label>
        <span class="hidden">Find in all that happened</span>
        <input
          id="filter"
          ref={filterField}
          type="search"
          placeholder="actor, event, node…"
          autocomplete="off"
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />{' '}
        <span class="soft" role="status">
          {count(many.value)} of {count(total)}
        </span>
      </label>
      <Rows
        count={many.value}
        height={24}
        label="All that happened"
        selected={near.value}
        onWindow={(first, last) => {
          for (let index = first; index < last; index += 1) {
            if (rows.peek().has(index)) continue;
            take({ first: String(index) }).catch(() => {});
            return;
          }
        }}
        row={(index) => {
          const row = rows.value.get(index);
          return row === undefined ? null : <Line row={row} isNear={index === near.value} />;
        }}
      />
    </div>
  );
}

function Line({
  row: { at, node, text, address, turn },
  isNear,
}: {
  row: ToldLine;
  isNear: boolean;
}) {
  const isTurn = address !== undefined && turn !== undefined;
  return (
    <div class={`told-row ${isNear ? 'near' : ''}`} title={plain(text)}>
      <time title={moment(at)}>{timeOfDay(at)}</time>
      <span class="soft">{plain(node)}</span>
      {isTurn ? (
        <button
          type="button"
          class="link"
          onClick={() => go(`${actorHref(address, 'turns')}&turn=${turn}`)}
        >
          {plain(text)}
        </button>
      ) : (
        <span>{plain(text)}</span>
      )}
    </div>
  );
}
