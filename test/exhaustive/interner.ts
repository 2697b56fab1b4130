/**
 * Gives each thing that is met a number: equal things have equal numbers.
 *
 * Guarantees: numbers rise from 0 without a gap, and `make` runs once for each thing.
 */

export class Interner<TThing> {
  readonly things: TThing[] = [];
  readonly #numbers = new Map<string, number>();

  /** `text` says all that makes the thing what it is. */
  numberOf(text: string, make: (number: number) => TThing): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const number = this.things.length;
    this.#numbers.set(text, number);
    this.things.push(make(number));
    return number;
  }

  get(number: number): TThing {
    return this.things[number] as TThing;
  }
}
