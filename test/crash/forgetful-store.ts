/**
 * A store that keeps everything but the marks of what an actor has taken: the other fault that
 * the crash rig must find, because what is sent again after a kill then counts twice.
 */

import type { ActorWrite, Store } from '../../runtime/store.ts';

export function forgetfulStore(behind: Store): Store {
  const commit: Store['commit'] = (group, settle) =>
    behind.commit({ ...group, writes: group.writes.map(withoutInbox) }, settle);
  return new Proxy(behind, {
    get(target, name) {
      if (name === 'commit') return commit;
      const found: unknown = Reflect.get(target, name);
      return typeof found === 'function' ? found.bind(target) : found;
    },
  });
}

function withoutInbox(write: ActorWrite): ActorWrite {
  if (write.record === null) return write;
  const { inbox: _, ...record } = JSON.parse(write.record);
  return { ...write, record: JSON.stringify(record) };
}
