/** Dial queue: a limited number of diallers go on at one moment; others wait, in order. */

interface Place {
  readonly begin: () => void;
  state: 'waiting' | 'under way' | 'left';
}

export class DialQueue {
  readonly #max: number;
  #waiting: Place[] = [];
  /** Index of the first waiting one that may not have been looked at. */
  #head = 0;
  #underWay = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Begins now or later. What comes back says that it is over, or not wanted any more. */
  enter(begin: () => void): () => void {
    const place: Place = { begin, state: 'waiting' };
    this.#waiting.push(place);
    this.#next();
    return () => {
      const wasUnderWay = place.state === 'under way';
      place.state = 'left';
      if (!wasUnderWay) return;
      this.#underWay -= 1;
      this.#next();
    };
  }

  #next(): void {
    while (this.#underWay < this.#max && this.#head < this.#waiting.length) {
      const place = this.#waiting[this.#head++] as Place;
      if (place.state === 'left') continue;
      place.state = 'under way';
      this.#underWay += 1;
      place.begin();
    }
    if (this.#head * 2 < this.#waiting.length) return;
    this.#waiting = this.#waiting.slice(this.#head);
    this.#head = 0;
  }
}
