/**
 * A store that keeps everything but the marks of what an actor has taken: the other fault that
 * the crash rig must find, because what is sent again after a kill then counts twice.
 */

import type { ActorWrite, Group, Settle } from '../../runtime/ports/store.ts';
import { StoreInFront } from '../store-in-front.ts';

export class ForgetfulStore extends StoreInFront {
  override commit(group: Group, settle: Settle): void {
    this.behind.commit({ ...group, writes: group.writes.map(withoutInbox) }, settle);
  }
}

function withoutInbox(write: ActorWrite): ActorWrite {
  if (write.record === null) return write;
  const { inbox: _, ...record } = JSON.parse(write.record);
  return { ...write, record: JSON.stringify(record) };
}
