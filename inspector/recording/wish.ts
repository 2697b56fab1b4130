/** Wishes for a recording: everything, or some actors and kinds. */

export interface Wish {
  readonly addresses?: readonly string[] | undefined;
  readonly kinds?: readonly string[] | undefined;
}

export const isOfAll = ({ addresses, kinds }: Wish): boolean =>
  addresses === undefined && kinds === undefined;

export function isWantedBy(wish: Wish, address: string): boolean {
  if (isOfAll(wish) || wish.addresses?.includes(address) === true) return true;
  const end = address.indexOf('/');
  return end > 0 && wish.kinds?.includes(address.slice(0, end)) === true;
}

/** True if what one wants is wanted by others already. */
export function areCovering(wishes: readonly Wish[], wish: Wish): boolean {
  if (wishes.some(isOfAll)) return true;
  if (isOfAll(wish)) return false;
  const { addresses = [], kinds = [] } = wish;
  return (
    addresses.every((address) => wishes.some((one) => isWantedBy(one, address))) &&
    kinds.every((kind) => wishes.some((one) => one.kinds?.includes(kind) === true))
  );
}
