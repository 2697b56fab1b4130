/**
 * Commands to an actor, each with the machine's answer. One that cannot be given says why where it would stand.
 */

import { useSignal } from '@preact/signals';
import type { ActorDetail, Command, CommandAnswer, EventForm } from '../../protocol.ts';
import { command } from '../core/api.ts';
import { can, hello, reason } from '../core/live.ts';
import { duration, plain } from '../core/words.ts';
import { Json } from '../parts/json.tsx';
import { Deed, Note } from '../parts/marks.tsx';
import { EventFields, textOfForm } from './event-form.tsx';
import { MoveDeadline } from './move-deadline.tsx';

export function Commands({ actor }: { actor: ActorDetail }) {
  const answer = useSignal<CommandAnswer | undefined>(undefined);
  const isAsking = useSignal(false);
  const give = async (asked: Command): Promise<void> => {
    isAsking.value = true;
    answer.value = await command(asked);
    isAsking.value = false;
  };
  const { address, kind, status, deadlines } = actor;
  const isJob = /(^|-)job$/.test(kind);
  return (
    <section class="commands" aria-label="Commands">
      <h3>Commands</h3>
      {can('commands') ? (
        <>
          {status === 'active' && deadlines.length > 0 && (
            <MoveDeadline actor={actor} give={give} />
          )}
          {status === 'active' && <Send actor={actor} give={give} />}
          <div class="deeds">
            {isJob && status === 'active' && (
              <>
                <Deed
                  onClick={() =>
                    give({
                      type: 'extend',
                      address,
                      byMs: 60_000,
                      reason: 'asked in the inspector',
                    })
                  }
                  why={reason('extend')}
                  title="A minute more for the job"
                >
                  Extend by 1 min
                </Deed>
                <Deed
                  onClick={() =>
                    give({ type: 'cancel', address, reason: 'asked in the inspector' })
                  }
                  why={reason('cancel')}
                >
                  Cancel the job
                </Deed>
              </>
            )}
            {status === 'stopped' && (
              <Deed onClick={() => give({ type: 'revive', address })} why={reason('lifecycle')}>
                Revive
              </Deed>
            )}
            {status === 'active' && (
              <Deed
                onClick={() => give({ type: 'end', address })}
                why={reason('lifecycle')}
                title="End it, whatever its machine says"
              >
                End by hand
              </Deed>
            )}
          </div>
        </>
      ) : (
        <Note>{reason('commands') || 'Read-only.'}</Note>
      )}
      <div class="deeds">
        <Deed
          onClick={() => give({ type: 'record', addresses: [address], forMs: RECORD_MS })}
          why={reason('record')}
          title="Keep contexts, events and microsteps of this actor for a while"
        >
          Record for {duration(RECORD_MS)}
        </Deed>
        <CopyTest address={address} />
      </div>
      {isAsking.value && <p class="soft">Asking…</p>}
      {answer.value !== undefined && !isAsking.value && <Answer answer={answer.value} />}
    </section>
  );
}

const RECORD_MS = 10 * 60_000;

const OUTCOMES: Readonly<Record<CommandAnswer['outcome'], string>> = {
  taken: 'Taken',
  ignored: 'Ignored',
  refused: 'Refused',
};

function Answer({
  answer: { outcome, why, code, reply, state, isRetryable },
}: {
  answer: CommandAnswer;
}) {
  return (
    <div class={`answer ${outcome}`} role="status">
      <b>{OUTCOMES[outcome]}.</b> {plain(why)}{' '}
      {code !== undefined && <small class="soft">{plain(code)}</small>}
      {isRetryable === true && <small class="soft"> It may be taken later.</small>}
      {state !== undefined && <div class="soft">State: {plain(state)}</div>}
      {reply !== undefined && <Json value={reply} name="reply" />}
    </div>
  );
}

function Send({ actor, give }: { actor: ActorDetail; give: (asked: Command) => Promise<void> }) {
  const expected = actor.events.filter(({ isExpected }) => isExpected);
  const others = actor.events.filter(({ isExpected }) => !isExpected);
  const type = useSignal(expected[0]?.type ?? others[0]?.type ?? '');
  const fields = useSignal('{}');
  const problem = useSignal<string | undefined>(undefined);
  const form = actor.events.find((each) => each.type === type.value);
  const send = (sort: 'send' | 'ask'): void => {
    try {
      const given = JSON.parse(fields.value || '{}') as Record<string, unknown>;
      problem.value = undefined;
      void give({ type: sort, address: actor.address, event: { ...given, type: type.value } });
    } catch (thrown) {
      problem.value = `The fields are no JSON: ${(thrown as Error).message}`;
    }
  };
  const option = ({ type: name }: EventForm) => (
    <option value={name} key={name}>
      {plain(name)}
    </option>
  );
  return (
    <form
      class="send"
      onSubmit={(event) => {
        event.preventDefault();
        send('send');
      }}
    >
      <label>
        Event
        <select
          name="event"
          value={type.value}
          onChange={(event) => {
            type.value = event.currentTarget.value;
            fields.value = textOfForm(
              actor.events.find((each) => each.type === type.value)?.schema,
            );
          }}
        >
          {expected.length > 0 && (
            <optgroup label="taken in this state">{expected.map(option)}</optgroup>
          )}
          {others.length > 0 && <optgroup label="of other states">{others.map(option)}</optgroup>}
        </select>
      </label>
      <EventFields
        key={type.value}
        schema={form?.schema}
        value={fields.value}
        onChange={(text) => {
          fields.value = text;
        }}
      />
      {problem.value !== undefined && <p class="failed">{problem.value}</p>}
      <div class="deeds">
        <button
          type="submit"
          disabled={reason('send') !== '' || type.value === ''}
          title={reason('send')}
        >
          Send
        </button>
        <Deed onClick={() => send('ask')} why={reason('ask')} title="Wait for the machine's reply">
          Ask
        </Deed>
      </div>
    </form>
  );
}

/** `turn`: that which went wrong; the last one where none is chosen. */
export function CopyTest({ address, turn }: { address: string; turn?: number }) {
  const done = useSignal('');
  const copy = async (): Promise<void> => {
    try {
      const upTo = turn === undefined ? '' : `&turn=${turn}`;
      const answer = await fetch(`api/test?address=${encodeURIComponent(address)}${upTo}`);
      const text = await answer.text();
      if (!answer.ok)
        throw new Error(JSON.parse(text).error?.message ?? `The server answered ${answer.status}.`);
      await navigator.clipboard.writeText(text);
      done.value = 'Copied: a vitest file that reaches this turn.';
    } catch (thrown) {
      done.value = `Not copied: ${(thrown as Error).message}`;
    }
  };
  return (
    <>
      <Deed
        onClick={() => void copy()}
        why={reason('copyTest')}
        title="A vitest file over testRuntime that reaches the same turn"
      >
        Copy as failing test
      </Deed>
      {done.value !== '' && <small role="status">{done.value}</small>}
    </>
  );
}

/** Buttons for the demo's faults, where the source has some. */
export function Faults({
  names,
}: {
  names: ReadonlyArray<readonly [name: string, label: string]>;
}) {
  const answer = useSignal<CommandAnswer | undefined>(undefined);
  if (hello.value === undefined || !can('faults')) return null;
  return (
    <div class="faults">
      <span class="soft">Faults:</span>
      {names.map(([name, label]) => (
        <button
          type="button"
          key={name}
          onClick={() =>
            void command({ type: 'fault', name }).then((given) => {
              answer.value = given;
            })
          }
        >
          {label}
        </button>
      ))}
      {answer.value !== undefined && <small role="status">{plain(answer.value.why)}</small>}
    </div>
  );
}
