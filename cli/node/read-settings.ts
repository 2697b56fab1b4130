/** Reader of settings: each by its row of the table; what there is no row for is an issue with a suggestion. */

import { FILES_OF, type SettingField } from './setting-types.ts';
import { SETTINGS, type Settings } from './settings.ts';

/** Reads all that is below `path`; what is wrong is an issue and left out. */
export function readSettings(field: SettingField, settings: Settings = {}): Settings {
  const below = field.path === '' ? '' : `${field.path}.`;
  const known = Object.keys(SETTINGS).filter((path) => path.startsWith(below));
  const names = known.map((path) => path.slice(below.length).split('.')[0] as string);
  const keys = field.record(Object.fromEntries(names.map((name) => [name, false])), FILES_OF);
  for (const [name, inner] of Object.entries(keys ?? {})) {
    const setting = SETTINGS[below + name];
    if (inner === undefined) continue;
    const value = setting === undefined ? readSettings(inner, settings) : setting.read(inner);
    if (setting !== undefined && value !== undefined)
      Object.assign(settings, { [below + name]: value });
  }
  return settings;
}
