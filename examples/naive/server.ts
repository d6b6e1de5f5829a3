/**
 * WHAT NOT TO DO: the naive handler as a process of its own, which `npx paidonce demo` feeds with the same webhooks as
 * paidonce got. DATABASE_URL and WEBHOOK_SECRET are needed; its tables lie in the schema `naive`, made anew at its start
 * and removed at its end. It listens on any free port of 127.0.0.1 and says which.
 */
import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { handleWebhook } from './handle-webhook.ts';

const TABLES = `
  drop schema if exists naive cascade;
  create schema naive;
  create table naive.orders (id text primary key, customer_id text, amount integer, lines jsonb, status text default 'pending');
  create table naive.customers (id text primary key, points integer);
  create table naive.enrolments (id serial, order_id text, line_id text);
  create table naive.gift_cards (id serial, order_id text, line_id text);
  create table naive.packages (id serial, order_id text, line_id text);
  create table naive.mails (id serial, order_id text)`;

const REPORT = `
  select (select count(*) from naive.orders where status = 'paid')::int as orders_paid,
         (select count(*) from naive.enrolments)::int as enrolments,
         (select coalesce(sum(points), 0) from naive.customers)::int as loyalty_points,
         (select count(*) from naive.gift_cards)::int as gift_cards,
         (select count(*) from naive.packages)::int as packages,
         (select count(*) from naive.mails)::int as receipts`;

const db = new pg.Pool({ connectionString: process.env['DATABASE_URL'] ?? '', max: 10 });
await db.query(TABLES);

const app = express();
app.post('/webhooks', express.raw({ type: '*/*' }), handleWebhook(db, process.env['WEBHOOK_SECRET'] ?? ''));
// The shop's own side: it makes its orders here, and looks at what it has.
app.post('/orders', express.json(), async (request, response) => {
  const { id, amount, customer, lines } = request.body as {
    id: string;
    amount: number;
    customer: { id: string };
    lines: unknown;
  };
  await db.query('insert into naive.orders (id, customer_id, amount, lines) values ($1, $2, $3, $4)', [
    id,
    customer.id,
    amount,
    JSON.stringify(lines),
  ]);
  response.sendStatus(201);
});
app.get('/report', async (_request, response) => {
  response.json((await db.query(REPORT)).rows[0]);
});

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`The naive handler listens on http://127.0.0.1:${port}\n`);
  process.send?.({ ready: true, port });
});

async function stop(): Promise<void> {
  server.close();
  server.closeAllConnections();
  await db.query('drop schema if exists naive cascade');
  await db.end();
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(signal, () => void stop());
