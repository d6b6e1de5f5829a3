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

/** Every order of `n` things where there are at most `most`; otherwise so many different ones, drawn by `random`, the order of happening among them. */
export function ordersOfDelivery(n: number, most: number, random: () => number): number[][] {
  const things = Array.from({ length: n }, (_, at) => at);
  const all = things.reduce((product, at) => product * (at + 1), 1);
  if (all <= most) return permutations(things);
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

function shuffled(things: readonly number[], random: () => number): number[] {
  const order = [...things];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [order[at], order[other]] = [order[other] ?? 0, order[at] ?? 0];
  }
  return order;
}
