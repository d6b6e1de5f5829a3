import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request, Response } from 'express';
import type pg from 'pg';
import { addPoints, enrol, issueGiftCards, issuePackages, sendReceipt, type Order } from './fulfil.ts';

/**
 * WHAT NOT TO DO. A payment webhook as it is often written, with care: the signature is verified, the order's status is
 * checked, everything is awaited, and the order is marked paid last, so that a crash half-way leaves the gateway to send
 * it again. README.md beside it says what goes wrong all the same.
 */
export function handleWebhook(db: pg.Pool, secret: string) {
  return async (request: Request, response: Response): Promise<void> => {
    if (!hasValidSignature(request, secret)) {
      response.sendStatus(401);
      return;
    }
    const event = JSON.parse((request.body as Buffer).toString()) as { type: string; data: { order_id: string } };
    const { rows } = await db.query<Order>('select * from naive.orders where id = $1', [event.data.order_id]);
    const order = rows[0];
    if (order === undefined) {
      console.warn(`webhook for unknown order ${event.data.order_id}`);
      response.sendStatus(200);
      return;
    }

    if (event.type === 'payment.captured') {
      // Sent before? Then there is nothing to do.
      if (order.status !== 'paid') {
        await enrol(db, order);
        await addPoints(db, order);
        await issueGiftCards(db, order);
        await issuePackages(db, order);
        await sendReceipt(db, order);
        await db.query(`update naive.orders set status = 'paid' where id = $1`, [order.id]);
      }
    } else if (event.type === 'payment.failed') {
      await db.query(`update naive.orders set status = 'failed' where id = $1`, [order.id]);
    }
    response.sendStatus(200);
  };
}

function hasValidSignature(request: Request, secret: string): boolean {
  const id = request.header('webhook-id') ?? '';
  const timestamp = request.header('webhook-timestamp') ?? '';
  const given = Buffer.from((request.header('webhook-signature') ?? '').replace(/^v1,/, ''));
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), request.body as Buffer]);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = Buffer.from(createHmac('sha256', key).update(signed).digest('base64'));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
