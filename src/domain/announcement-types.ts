/** What a field of an announced event holds. `amount`: minor units, a decimal string in the outbox and a JSON integer outside. */
export type AnnouncedFieldKind = 'id' | 'amount' | 'currency' | 'number' | 'text';

export interface AnnouncementType {
  /** One sentence: what is true when this is told. */
  readonly means: string;
  /** The members of its `data`. One that has no value is left out. */
  readonly data: Readonly<Record<string, AnnouncedFieldKind>>;
}

const PAYMENT = { order_id: 'id', source: 'id', payment_id: 'id' } as const;
const MONEY = { amount: 'amount', currency: 'currency' } as const;

/**
 * Every event that is told to others, by its type; all other rows of the outbox are our own business. Types are part of the
 * contract: consumers are keyed by them, and receivers subscribe to them.
 */
export const ANNOUNCEMENT_TYPES = {
  'order.paid': {
    means: 'An order is paid, and all its consequences stand. `amount` is what was captured and kept for it.',
    data: { ...PAYMENT, ...MONEY },
  },
  'payment.extra_captured': {
    means: 'A payment was captured beyond what its order needs; `refund_id` gives it back.',
    data: { ...PAYMENT, refund_id: 'id', ...MONEY },
  },
  'refund.succeeded': {
    means: 'A refund has reached the customer, whoever began it.',
    data: { ...PAYMENT, refund_id: 'id', ...MONEY },
  },
  'refund.failed': {
    means:
      'A refund did not come about, or the bank sent a succeeded one back. One that is tried again may still succeed.',
    data: { ...PAYMENT, refund_id: 'id', ...MONEY },
  },
  'payout.paid': {
    means: 'A seller was paid out.',
    data: { source: 'id', payout_id: 'id', seller_id: 'id', ...MONEY },
  },
  'payout.failed': {
    means: 'A payout did not come about, or the bank sent it back. One that is tried again may still be paid.',
    data: { source: 'id', payout_id: 'id', seller_id: 'id', ...MONEY },
  },
  'dispute.opened': {
    means:
      'A customer disputes a payment at the bank. Told again where an inquiry that had ended becomes a dispute after all.',
    data: { ...PAYMENT, dispute_id: 'id', ...MONEY },
  },
  'dispute.won': {
    means: 'The bank has decided a dispute for us.',
    data: { ...PAYMENT, dispute_id: 'id', ...MONEY },
  },
  'dispute.lost': {
    means: 'The bank has decided a dispute for the customer.',
    data: { ...PAYMENT, dispute_id: 'id', ...MONEY },
  },
  'fulfilment.requested': {
    means: 'A product line of a paid order is to be shipped. `reference` is what the order said about the line.',
    data: { ...PAYMENT, line_id: 'id', quantity: 'number', reference: 'text' },
  },
} as const satisfies Readonly<Record<string, AnnouncementType>>;

export type AnnouncementTypeName = keyof typeof ANNOUNCEMENT_TYPES;

/** Subscribes to every type, those to come included. */
export const EVERY_TYPE = '*';

export function isAnnouncementType(eventType: string): eventType is AnnouncementTypeName {
  return Object.hasOwn(ANNOUNCEMENT_TYPES, eventType);
}

/**
 * The `data` of an announced event as it is told outside: the members that its type names and that have a value, amounts as
 * bigint. What else the payload holds stays inside.
 */
export function announcedData(
  eventType: AnnouncementTypeName,
  payload: Readonly<Record<string, unknown>>,
): Record<string, string | number | bigint> {
  const data: Record<string, string | number | bigint> = {};
  for (const [field, kind] of Object.entries(ANNOUNCEMENT_TYPES[eventType].data)) {
    const value = payload[field];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    data[field] = kind === 'amount' ? BigInt(value) : value;
  }
  return data;
}
