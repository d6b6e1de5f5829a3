import { createTestDatabase, type TestDatabase } from './database.ts';
import { facts, look, seedOrder } from './seed.ts';

/** What a disputed payment's order consists of: every consequence that can be taken back. */
export const DISPUTED_LINES = [
  { id: 'seat', kind: 'booking', amount: 6_000n },
  { id: 'card', kind: 'gift_card', amount: 3_000n },
  { id: 'pack', kind: 'package', amount: 1_000n },
];

export interface DisputedIds {
  readonly orderId: string;
  readonly paymentId: string;
  readonly disputeId: string;
}

/** A database in which payments are disputed, and what can be seen there. */
export interface DisputeLab {
  readonly db: TestDatabase;
  /** Names that nothing has yet. */
  ids(): DisputedIds;
  /** A paid order with every consequence. */
  paidOrder(): Promise<DisputedIds>;
  rows(sql: string, ...values: unknown[]): Promise<unknown[]>;
  /** What stands in the end, without times and names of events. */
  standing(ids: Pick<DisputedIds, 'paymentId' | 'orderId'>): Promise<{
    disputes: unknown[];
    order: unknown[];
    books: unknown[];
    stands: unknown[];
    credit_notes: unknown[];
  }>;
  announced(paymentId: string): Promise<unknown[]>;
}

export async function openDisputeLab(): Promise<DisputeLab> {
  const db = await createTestDatabase();
  let n = 0;
  const ids = () => {
    n += 1;
    return { orderId: `ord_${n}`, paymentId: `pay_${n}`, disputeId: `dp_${n}` };
  };
  const rows = async (sql: string, ...values: unknown[]): Promise<unknown[]> => (await db.pool.query(sql, values)).rows;
  return {
    ...{ db, ids, rows },
    async paidOrder() {
      const made = ids();
      await seedOrder(db.pool, { id: made.orderId, lines: DISPUTED_LINES });
      await look(db.pool, facts({ orderId: made.orderId, paymentId: made.paymentId }));
      return made;
    },
    async standing({ paymentId, orderId }) {
      return {
        disputes: await rows(
          `select dispute_id, status, amount, fee, revokes, charged_back from disputes where payment_id = $1 order by 1`,
          paymentId,
        ),
        order: await rows('select status, disputed, amount_charged_back from orders where id = $1', orderId),
        books: await rows(
          `select account, sum(case side when 'debit' then amount else -amount end)::int as sum from ledger_entries
       where payment_id = $1 group by account having sum(case side when 'debit' then amount else -amount end) <> 0 order by 1`,
          paymentId,
        ),
        stands: await rows(
          `select (select sum(points)::int from loyalty_entries where order_id = $1) as points,
              (select string_agg(status, ' ') from bookings where order_id = $1) as bookings,
              (select string_agg(status || ' ' || remaining, ' ') from gift_cards where order_id = $1) as cards,
              (select string_agg(status, ' ') from packages where order_id = $1) as packages`,
          orderId,
        ),
        credit_notes: await rows(`select amount from invoices where order_id = $1 and kind = 'credit_note'`, orderId),
      };
    },
    async announced(paymentId) {
      return rows(
        `select event_type, payload from outbox where event_type like 'dispute.%' and payload->>'payment_id' = $1 order by id`,
        paymentId,
      );
    },
  };
}
