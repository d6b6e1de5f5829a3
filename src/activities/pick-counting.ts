/**
 * Of what a gateway has under one reference of ours the one that counts: one that lives before one that failed, and none of an attempt
 * before the one that a person ordered (F3).
 */
export function pickCounting<Found extends { readonly status: string }>(
  found: readonly Found[],
  isSuperseded: (one: Found) => boolean = () => false,
): Found | null {
  const ours = found.filter((one) => !isSuperseded(one));
  return ours.find(({ status }) => status !== 'failed' && status !== 'expired') ?? ours[0] ?? null;
}
