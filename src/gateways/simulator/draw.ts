/**
 * The n-th number of a named stream under a seed, in [0, 1): the same on every machine and in every run, however calls
 * of other streams came between. Not for secrets.
 */
export function draw(seed: number, stream: string, n: number): number {
  // FNV-1a over the name, then the finishing steps of MurmurHash3: neighbours in n must not be neighbours in value.
  let hash = 0x811c9dc5;
  for (const char of `${seed}/${stream}/${n}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
