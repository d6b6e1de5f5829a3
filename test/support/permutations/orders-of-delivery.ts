/** A small generator with a seed (mulberry32): the same seed gives the same orders on every machine. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Every order of `n` things where there are at most `most`; otherwise so many different ones, drawn by `random`, the order of happening
 * among them. In no order themselves, so that what is told from their numbers has nothing to do with what they are.
 */
export function ordersOfDelivery(n: number, most: number, random: () => number): number[][] {
  const things = Array.from({ length: n }, (_, at) => at);
  const all = things.reduce((product, at) => product * (at + 1), 1);
  if (all <= most) return shuffled(permutations(things), random);
  const drawn = new Map([[things.join(), things]]);
  while (drawn.size < most) {
    const order = shuffled(things, random);
    drawn.set(order.join(), order);
  }
  return [...drawn.values()];
}

function permutations(things: readonly number[]): number[][] {
  if (things.length === 0) return [[]];
  return things.flatMap((first) => permutations(things.filter((one) => one !== first)).map((rest) => [first, ...rest]));
}

function shuffled<T>(things: readonly T[], random: () => number): T[] {
  const order = [...things];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] as T, order[at] as T];
  }
  return order;
}
