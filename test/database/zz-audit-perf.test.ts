import { afterAll, beforeAll, expect, it } from 'vitest';
import { runAudit } from '../../src/database/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
let db: TestDatabase;
beforeAll(async () => { db = await createTestDatabase(); });
afterAll(() => db.drop());
it('perf', { timeout: 300_000 }, async () => {
  const c = await db.pool.connect();
  const N = 100_000;
  const q = (s: string) => c.query({ text: s, query_timeout: 200_000 } as never);
  await q(`insert into orders (id,status,currency,amount_due,amount_paid,customer_id,paid_source,paid_payment_id,paid_at,aggregate_version,created_by) select 'o'||i,'paid','EUR',10000,10000,'c','sim','p'||i,now(),1,'t' from generate_series(1,${N}) i`);
  await q(`insert into order_lines (order_id,id,position,kind,amount,quantity) select 'o'||i,'l1',1,'enrolment',5000,1 from generate_series(1,${N}) i`);
  await q(`insert into order_lines (order_id,id,position,kind,amount,quantity) select 'o'||i,'l2',2,'gift_card',5000,2 from generate_series(1,${N}) i`);
  await q(`insert into payments (source,payment_id,order_id,status,amount,currency,outcome) select 'sim','p'||i,'o'||i,'captured',10000,'EUR','marked_paid' from generate_series(1,${N}) i`);
  await q(`insert into order_payments (source,payment_id,order_id,amount,counted_by,outcome) select 'sim','p'||i,'o'||i,10000,'sim:e'||i,'marked_paid' from generate_series(1,${N}) i`);
  await q(`insert into bookings (order_id,line_id,kind,status) select 'o'||i,'l1','enrolment','confirmed' from generate_series(1,${N}) i`);
  await q(`insert into gift_cards (order_id,line_id,unit,amount,remaining,currency,status) select 'o'||i,'l2',u,2500,2500,'EUR','active' from generate_series(1,${N}) i, generate_series(1,2) u`);
  await q(`insert into loyalty_entries (order_id,customer_id,source,payment_id,points) select 'o'||i,'c','sim','p'||i,100 from generate_series(1,${N}) i`);
  await q(`insert into invoices (order_id,kind,amount,currency) select 'o'||i,'invoice',10000,'EUR' from generate_series(1,${N}) i`);
  await q(`insert into ledger_entries (source_event_id,account,side,amount,currency,order_id,source,payment_id) select 'captured:sim:p'||i,a,s,10000,'EUR','o'||i,'sim','p'||i from generate_series(1,${N}) i, (values ('gateway_receivable:sim','debit'),('sales','credit'),('customer_deposits','debit'),('customer_deposits','credit')) v(a,s)`);
  await q(`insert into outbox (event_type,aggregate_id,aggregate_version,payload,published_at) select 'order.paid','o'||i,1,json_build_object('order_id','o'||i),now() from generate_series(1,${N}) i`);
  await q(`insert into webhook_events (source,event_id,event_type,payment_id,order_id,body_sha256,state,outcome,processed_at) select 'sim','e'||i,'payment.captured','p'||i,'o'||i,sha256(('body'||i)::bytea),'processed','marked_paid',now() from generate_series(1,${N}) i`);
  await q(`insert into webhook_events (source,event_id,event_type,payment_id,order_id,body_sha256,state,outcome,processed_at) select 'sim','f'||i,'payment.captured','p'||i,'o'||i,sha256(('body'||i)::bytea),'processed','already_paid_same_payment',now() from generate_series(1,${N}) i`);
  await q(`insert into webhook_deliveries (source,event_id,body,headers) select 'sim',v||i,('body'||i)::bytea,'{}' from generate_series(1,${N}) i, (values ('e'),('f'),('f')) x(v)`);
  await q(`insert into processed_events (consumer,event_id,outcome) select 'payments','sim:'||event_id,outcome from webhook_events`);
  await q(`insert into state_transitions (machine,object_id,from_status,to_status,cause,order_id,source,payment_id) select 'order','o'||i,null,'pending_payment','t','o'||i,null,null from generate_series(1,${N}) i`);
  await q(`insert into state_transitions (machine,object_id,from_status,to_status,cause,order_id,source,payment_id) select 'order','o'||i,'pending_payment','paid','t','o'||i,null,null from generate_series(1,${N}) i`);
  await q(`insert into state_transitions (machine,object_id,from_status,to_status,cause,order_id,source,payment_id) select 'payment','sim:p'||i,null,'captured','t','o'||i,'sim','p'||i from generate_series(1,${N}) i`);
  // an extra capture for each 8th order
  await q(`insert into payments (source,payment_id,order_id,status,amount,currency,outcome,amount_refunded) select 'sim','x'||i,'o'||i,'captured',10000,'EUR','extra_payment',10000 from generate_series(1,${N},8) i`);
  await q(`insert into refunds (id,source,payment_id,order_id,kind,status,amount,currency,reference,gateway_refund_id) select 'extra_capture:sim:x'||i,'sim','x'||i,'o'||i,'extra_capture','succeeded',10000,'EUR','refund:extra_capture:sim:x'||i,'g'||i from generate_series(1,${N},8) i`);
  c.release();
  for (const analyzed of [false, true]) {
    if (analyzed) { const k = await db.pool.connect(); await k.query({ text: 'analyze', query_timeout: 100000 } as never); k.release(); }
    const t = Date.now();
    const orig = (await import('pg')).default.Client.prototype.query;
    const report = await runAudit(db.pool);
    void orig;
    const by: Record<string, number> = {};
    for (const v of report.violations) by[v.invariant] = (by[v.invariant] ?? 0) + 1;
    console.log(analyzed, Date.now() - t, 'ms', by);
  }
  expect(1).toBe(1);
});
