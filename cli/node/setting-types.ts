/**
 * Types of settings: how each is read from a field, with what is said where it is not that, and how it is
 * written where there is only text.
 */

import { CLIENT_ROLES } from '../../programs/jobs/jobs-service/permissions.ts';
import type { Field } from '../../reading/field.ts';
import type { OptionTable } from '../../runtime/base/option.ts';
import type { Origin } from './origin.ts';

export type SettingField = Field<Origin>;

export interface SettingType<TValue> {
  /** `path`: relative to the file that says it, else to the working directory. Left out: it has parts. */
  readonly text?: 'text' | 'path' | 'list' | 'whole' | 'switch';
  /** All that it may be, where that is a few words. */
  readonly choices?: readonly string[];
  /** Undefined, with an issue, where it is something else. */
  read(field: SettingField): TValue | undefined;
}

const ITEMS_MAX = 1_000;
const ANY_TEXT = /./s;

export const NAME: SettingType<string> = { text: 'text', read: (field) => field.id() };
export const NAMES = listOf((item) => item.id());
export const PATH: SettingType<string> = {
  text: 'path',
  read: (field) => field.text(ANY_TEXT, 'the path of a file'),
};
export const SWITCH: SettingType<boolean> = { text: 'switch', read: (field) => field.flag() };

export function text(what: string): SettingType<string> {
  return { text: 'text', read: (field) => field.text(ANY_TEXT, what) };
}

export function oneOf<TWord extends string>(choices: readonly TWord[]): SettingType<TWord> {
  return { text: 'text', choices, read: (field) => field.word(choices) };
}

export function whole(min: number, max: number): SettingType<number> {
  return { text: 'whole', read: (field) => field.whole({ min, max }) };
}

/** In milliseconds. */
export function duration(min: number, max: number): SettingType<number> {
  return { text: 'text', read: (field) => field.duration({ min, max }) };
}

export const PEERS = texts(isPeerUrl, 'a URL that begins with ws:// or wss://');

/** Of texts that `allows` lets through. */
export function texts(allows: (text: string) => boolean, what: string): SettingType<string[]> {
  return listOf((item) => item.textWhere(allows, what));
}

function listOf<TItem>(read: (item: SettingField) => TItem | undefined): SettingType<TItem[]> {
  return { text: 'list', read: (field) => field.list(read, ITEMS_MAX) };
}

/** Options by name, each by the row of the table. */
export function options<TOptions>(table: OptionTable): SettingType<TOptions> {
  return { read: (field) => field.options(table) as TOptions };
}

/** Settings that people write where only the path of a file may stand. */
export const FILES_OF = { secret: 'secretFile', token: 'tokenFile' };
const CLIENTS_MAX = 10_000;

export const CLIENTS = { read: (field: SettingField) => field.list(readClient, CLIENTS_MAX) };

function readClient(field: SettingField) {
  const keys = field.record(
    { name: true, role: true, tokenFile: true, jobs: false, actors: false },
    FILES_OF,
  );
  const name = keys?.name?.id();
  const role = keys?.role?.word(CLIENT_ROLES);
  const tokenFile = keys?.tokenFile && PATH.read(keys.tokenFile);
  const jobs = keys?.jobs && NAMES.read(keys.jobs);
  const actors = keys?.actors?.list(
    (item) => item.text(/^/, 'the beginning of an address'),
    ITEMS_MAX,
  );
  if (name === undefined || role === undefined || tokenFile === undefined) return undefined;
  return { name, role, tokenFile, ...(jobs && { jobs }), ...(actors && { actors }) };
}

function isPeerUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  // A peer that is let in is asked for a proof, not for a password that stands in a list.
  return (protocol === 'ws:' || protocol === 'wss:') && username === '' && password === '';
}
