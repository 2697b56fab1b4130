/** Refusals of steps that XState would have taken, or would have taken wrongly. */

import { RuntimeError } from '../base/errors.ts';

export function outsider({ type }: { readonly type: string }): RuntimeError {
  const advice = 'Name it by its address: sendTo(to(…), …).';
  const what = `Event "${type}" was sent to something outside this actor. ${advice}`;
  return new RuntimeError('EVENT_REFUSED', what);
}

export function endlessTalk(microstepsMax: number): RuntimeError {
  const what = `More than ${microstepsMax} events between the machines of one actor in one turn.`;
  const advice = 'Look for two that answer each other for ever.';
  return new RuntimeError('MICROSTEPS_EXCEEDED', `${what} ${advice}`);
}

export function tooManyChildren(childrenMax: number): RuntimeError {
  const advice = 'What must scale is a root actor of its own: see spawnRoot.';
  return new RuntimeError('ACTOR_TOO_LARGE', `More than ${childrenMax} children. ${advice}`);
}

export function unregistered(what: unknown): RuntimeError {
  const advice = 'A child is kept by the name of its logic in setup({ actors }), and by an id.';
  const why = `The child ${JSON.stringify(what)} cannot be stored. ${advice}`;
  return new RuntimeError('CHILD_UNREGISTERED', why);
}

export function unwatched(id: string): RuntimeError {
  const why = `"${id}" is inside an actor: an observer there would see what is not committed yet, and be gone after a restart.`;
  const advice =
    'Use onSnapshot or syncSnapshot in the machine, or subscribe to the handle of the root.';
  return new RuntimeError('WATCH_REFUSED', `${why} ${advice}`);
}

export function wrongDelay(timer: string, delayMs: number): RuntimeError {
  const must = 'it must be a finite number of ms, 0 or more.';
  return new RuntimeError('DELAY_INVALID', `Timer "${timer}" has a delay of ${delayMs}; ${must}`);
}
