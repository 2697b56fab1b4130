/**
 * Types of the events that the runtime itself gives a meaning to.
 */

/** The event type that gives birth to the actor it is addressed to. */
export const SPAWN_EVENT = 'escapement.spawn';
/** XState's event that asks for a state with a `route`: the one of its own that anybody may send. */
export const ROUTE_EVENT = 'xstate.route';
/** The event type that carries an answer back to the asker. */
export const REPLY_EVENT = 'escapement.reply';
