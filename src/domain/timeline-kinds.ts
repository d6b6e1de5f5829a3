/** What the lines of a payment's timeline are about (H1), as the API names them. */
export const TIMELINE_KINDS = [
  'delivery',
  // Seen at the gateway, where its webhook never came.
  'found',
  'handed_over',
  'decided',
  'consequence',
  'ledger',
  'refund',
  'delivered_out',
  'mail',
  'dead_letter',
  'decision',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];
