/**
 * Deadlines of a node, as an index: for each actor the moment its next timer is due.
 *
 * Guarantees: an entry is reported once for each time it was set, never early, in the order of the deadlines
 * and for equal ones in the order they were set; whatever else comes in the very moment comes before it. Moving
 * a deadline later, and clearing it, only writes the new moment down: the heap is touched when the old moment
 * comes. So the index sleeps on one clock task, and about half of its heap at most is out of date by clearing.
 * It holds one entry per actor, live or passivated, found by address. It does not know timers: they are in
 * the actor's record, and the listener that is told of a due actor looks there and sets the next deadline. It
 * persists nothing.
 */

import { Heap, type HeapItem, OUTSIDE } from '../base/heap.ts';
import { knob } from '../base/knob.ts';
import type { Cancel, Clock } from '../ports/clock.ts';

declare const entryBrand: unique symbol;

/**
 * One actor's place in the index. A number, so that moving a deadline reads no object: of a
 * million actors few are in the processor's cache, and each object more would cost a miss.
 */
export type DeadlineEntry = number & { readonly [entryBrand]: true };

interface Item extends HeapItem {
  readonly address: string;
  readonly slot: number;
}

/** The deadline of an entry that is not set. */
const NEVER = Number.POSITIVE_INFINITY;
/** Steps one wake may take before others get a turn of the event loop. */
const STEPS_PER_WAKE_MAX = knob('timerStepsPerWakeMax', 4_096);
/** A heap this small is never compacted. */
const COMPACTED_SIZE_MIN = knob('timersCompactedMin', 64);
const SLOTS_AT_START = 64;
/** An entry is its slot and, above these bits, how often the slot was used before, modulo 128. */
const SLOT_BITS = 24;
const SLOT_MASK = 2 ** SLOT_BITS - 1;
const GENERATION_MASK = 2 ** 7 - 1;

export class Deadlines {
  readonly #clock: Clock;
  readonly #report: (address: string) => void;
  readonly #mayReport: (reported: number) => boolean;
  readonly #entries = new Map<string, DeadlineEntry>();
  /** Items by slot; a free slot keeps its last item, which is not in the heap. */
  readonly #items: Item[] = [];
  readonly #freeSlots: number[] = [];
  /**
   * Waits by the deadline as it was when the heap was last touched, which is never later than the
   * real one. Items that were cleared since then are still in it.
   */
  readonly #heap = new Heap<Item>();
  /** The real deadline of slot `i` is at `2i`, the order in which it was set at `2i + 1`. */
  #set = new Float64Array(2 * SLOTS_AT_START).fill(NEVER);
  /** Generations by slot: they tell an entry that was closed from the entry that has its slot now. */
  #generations = new Uint8Array(SLOTS_AT_START);
  #nextOrder = 0;
  /** Cleared items in the heap. */
  #clearedCount = 0;
  /** Moment when the clock will wake the index; NEVER while no wake is asked for. */
  #wakeAt = NEVER;
  #cancelWake: Cancel | undefined;
  /** A wake that runs now, or was deferred, looks at the heap by itself before it ends. */
  #isWakeUnderway = false;
  /** Due entries wait until the listener has caught up. */
  #isHeld = false;

  /**
   * `report` is called with the address of each actor that is due, never inside a call to the index,
   * and only while `mayReport`, which is told how many were reported in one go, says so; when it has
   * said no, `resume` goes on.
   */
  constructor(
    clock: Clock,
    report: (address: string) => void,
    mayReport: (reported: number) => boolean = () => true,
  ) {
    this.#clock = clock;
    this.#report = report;
    this.#mayReport = mayReport;
  }

  /** Number of entries that are set. */
  get size(): number {
    return this.#heap.size - this.#clearedCount;
  }

  /** The entry of `address`, made if there is none. It holds until it is closed. */
  open(address: string): DeadlineEntry {
    let entry = this.#entries.get(address);
    if (entry === undefined) {
      const slot = this.#freeSlots.pop() ?? this.#addSlot();
      this.#items[slot] = { address, slot, position: OUTSIDE };
      entry = (((this.#generations[slot] as number) << SLOT_BITS) | slot) as DeadlineEntry;
      this.#entries.set(address, entry);
    }
    return entry;
  }

  find(address: string): DeadlineEntry | undefined {
    return this.#entries.get(address);
  }

  /**
   * Reports the entry's actor at `dueAt` instead of at any moment given before.
   *
   * @throws {RangeError} when `dueAt` is not a finite number or the entry was closed.
   */
  set(entry: DeadlineEntry, dueAt: number): void {
    const slot = entry & SLOT_MASK;
    const isLater = dueAt >= (this.#set[2 * slot] as number) && dueAt < NEVER;
    if (isLater && this.#generations[slot] === entry >> SLOT_BITS) {
      this.#set[2 * slot] = dueAt;
      this.#set[2 * slot + 1] = this.#nextOrder++;
      return;
    }
    this.#setEarlier(entry, dueAt);
  }

  /** Takes the deadline away; the entry stays open. */
  clear(entry: DeadlineEntry): void {
    if (this.dueAt(entry) === undefined) return;
    this.#set[2 * (entry & SLOT_MASK)] = NEVER;
    this.#clearedCount++;
    this.#compact();
    this.#cancelIdleWake();
  }

  /** Takes the deadline away and forgets the entry, which cannot be used again. */
  close(entry: DeadlineEntry): void {
    if (!this.#isOpen(entry)) return;
    const slot = entry & SLOT_MASK;
    const item = this.#items[slot] as Item;
    if (item.position !== OUTSIDE) {
      if (this.#set[2 * slot] === NEVER) this.#clearedCount--;
      this.#heap.remove(item);
    }
    this.#set[2 * slot] = NEVER;
    this.#generations[slot] = ((entry >> SLOT_BITS) + 1) & GENERATION_MASK;
    this.#freeSlots.push(slot);
    this.#entries.delete(item.address);
    this.#compact();
    this.#cancelIdleWake();
  }

  /** The deadline of an entry, if it is set. */
  dueAt(entry: DeadlineEntry): number | undefined {
    const dueAt = this.#set[2 * (entry & SLOT_MASK)];
    return dueAt === NEVER || !this.#isOpen(entry) ? undefined : dueAt;
  }

  /** The earliest deadline of all. */
  nextDueAt(): number | undefined {
    for (let top = this.#heap.peek(); top !== undefined; top = this.#heap.peek()) {
      if (this.#bringUpToDate(top)) return this.#heap.keyOf(top);
    }
    return undefined;
  }

  /** Shows every deadline that is set, in no order. */
  each(show: (address: string, dueAt: number) => void): void {
    for (const { address, slot } of this.#items) {
      const dueAt = this.#set[2 * slot] as number;
      if (dueAt !== NEVER) show(address, dueAt);
    }
  }

  /** Goes on reporting, if it was not allowed to. */
  resume(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#clock.defer(this.#wake);
  }

  /** Reports nothing any more until a deadline is set again. */
  stop(): void {
    this.resume();
    this.#heap.retain(() => false);
    this.#set.fill(NEVER);
    this.#clearedCount = 0;
    this.#cancelIdleWake();
  }

  /** The rest of `set`: not set before, set to an earlier moment, or refused. */
  #setEarlier(entry: DeadlineEntry, dueAt: number): void {
    if (!this.#isOpen(entry))
      throw new RangeError('A deadline was set for an entry that is closed.');
    const slot = entry & SLOT_MASK;
    const item = this.#items[slot] as Item;
    if (!Number.isFinite(dueAt)) {
      throw new RangeError(`A deadline must be a finite number, got ${dueAt} (${item.address}).`);
    }
    const wasCleared = this.#set[2 * slot] === NEVER;
    const order = this.#nextOrder++;
    this.#set[2 * slot] = dueAt;
    this.#set[2 * slot + 1] = order;
    if (item.position === OUTSIDE) {
      this.#heap.push(item, dueAt, order);
    } else {
      if (wasCleared) this.#clearedCount--;
      if (dueAt < this.#heap.keyOf(item)) this.#heap.move(item, dueAt, order);
    }
    this.#wakeBy(dueAt);
  }

  #isOpen(entry: DeadlineEntry): boolean {
    return this.#generations[entry & SLOT_MASK] === entry >> SLOT_BITS;
  }

  #wakeBy(dueAt: number): void {
    if (dueAt >= this.#wakeAt || this.#isWakeUnderway) return;
    this.#cancelWake?.();
    this.#wakeAt = dueAt;
    this.#cancelWake = this.#clock.schedule(dueAt, this.#wake);
  }

  readonly #wake = (): void => {
    this.#cancelWake = undefined;
    this.#wakeAt = NEVER;
    const isDeferred = this.#isWakeUnderway;
    this.#isWakeUnderway = true;
    const now = this.#clock.now();
    let reported = 0;
    try {
      for (let steps = 0; steps < STEPS_PER_WAKE_MAX.value; steps++) {
        const top = this.#heap.peek();
        const dueAt = top === undefined ? NEVER : this.#heap.keyOf(top);
        if (top === undefined || dueAt > now || (dueAt === now && !isDeferred)) break;
        this.#isHeld = !this.#mayReport(reported);
        if (this.#isHeld) break;
        if (!this.#bringUpToDate(top)) continue;
        this.#heap.remove(top);
        this.#set[2 * top.slot] = NEVER;
        reported += 1;
        this.#report(top.address);
      }
    } finally {
      this.#compact();
      this.#sleep(now);
    }
  };

  #sleep(now: number): void {
    const top = this.#heap.peek();
    const dueAt = top === undefined ? NEVER : this.#heap.keyOf(top);
    if (this.#isHeld) return;
    if (dueAt <= now) {
      // There is more, and others come first: the wake goes on once pending I/O had its turn.
      this.#clock.defer(this.#wake);
      return;
    }
    this.#isWakeUnderway = false;
    this.#wakeBy(dueAt);
  }

  /** With nothing set, a task at the clock would only keep the process alive. */
  #cancelIdleWake(): void {
    if (this.size > 0) return;
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    this.#wakeAt = NEVER;
  }

  #compact(): void {
    const size = this.#heap.size;
    if (size < COMPACTED_SIZE_MIN.value || 2 * this.#clearedCount <= size) return;
    this.#heap.retain((item) => this.#set[2 * item.slot] !== NEVER);
    this.#clearedCount = 0;
  }

  /** True when the top item stands for a real deadline; otherwise it has been moved or taken out. */
  #bringUpToDate(top: Item): boolean {
    const dueAt = this.#set[2 * top.slot] as number;
    const order = this.#set[2 * top.slot + 1] as number;
    if (dueAt === NEVER) {
      this.#heap.remove(top);
      this.#clearedCount--;
      return false;
    }
    if (order === this.#heap.orderOf(top)) return true;
    this.#heap.move(top, dueAt, order);
    return false;
  }

  #addSlot(): number {
    const slot = this.#items.length;
    if (slot > SLOT_MASK) throw new RangeError(`The index holds ${SLOT_MASK + 1} entries at most.`);
    if (slot === this.#generations.length) {
      const set = new Float64Array(4 * slot).fill(NEVER, 2 * slot);
      set.set(this.#set);
      this.#set = set;
      const generations = new Uint8Array(2 * slot);
      generations.set(this.#generations);
      this.#generations = generations;
    }
    return slot;
  }
}
