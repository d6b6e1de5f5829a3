import type pg from 'pg';

export interface Order {
  readonly id: string;
  readonly customer_id: string;
  readonly amount: number;
  readonly status: 'pending' | 'paid' | 'failed';
  readonly lines: readonly {
    readonly id: string;
    readonly kind: string;
    readonly amount: number;
    readonly quantity?: number;
  }[];
}

/** What a mail server takes to accept a message. */
const MAIL_MS = 20;

/** The consequences of a paid order, each a statement of its own, inside the webhook's request. */
export async function enrol(db: pg.Pool, order: Order): Promise<void> {
  for (const line of linesOf(order, 'enrolment')) {
    await db.query('insert into naive.enrolments (order_id, line_id) values ($1, $2)', [order.id, line.id]);
  }
}

export async function addPoints(db: pg.Pool, order: Order): Promise<void> {
  await db.query(
    `insert into naive.customers (id, points) values ($1, $2)
     on conflict (id) do update set points = naive.customers.points + excluded.points`,
    [order.customer_id, Math.floor(order.amount / 100)],
  );
}

export async function issueGiftCards(db: pg.Pool, order: Order): Promise<void> {
  for (const line of linesOf(order, 'gift_card')) {
    for (let unit = 0; unit < (line.quantity ?? 1); unit += 1) {
      await db.query('insert into naive.gift_cards (order_id, line_id) values ($1, $2)', [order.id, line.id]);
    }
  }
}

export async function issuePackages(db: pg.Pool, order: Order): Promise<void> {
  for (const line of linesOf(order, 'package')) {
    for (let unit = 0; unit < (line.quantity ?? 1); unit += 1) {
      await db.query('insert into naive.packages (order_id, line_id) values ($1, $2)', [order.id, line.id]);
    }
  }
}

/** A record stands for the mail: nothing is sent. */
export async function sendReceipt(db: pg.Pool, order: Order): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, MAIL_MS));
  await db.query('insert into naive.mails (order_id) values ($1)', [order.id]);
}

function linesOf(order: Order, kind: string): Order['lines'] {
  return order.lines.filter((line) => line.kind === kind);
}
