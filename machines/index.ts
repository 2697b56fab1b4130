/**
 * `escapement/machines`: statecharts to register as they are.
 *
 * This is a public entry. Machines are pure: they need nothing but XState and the runtime's
 * vocabulary for addresses and time, and run in any runtime, simulated or not.
 */

export { type ReminderEvent, type ReminderInput, reminderMachine } from './reminder.ts';
