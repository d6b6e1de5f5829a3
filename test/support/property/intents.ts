import { OPEN_ORDERS, PAID_ORDERS, type Intent } from './commands.ts';

/** A request that carries out an intent. */
export interface Request {
  readonly path: string;
  readonly body: object;
}

const CARD = { source: 'sim', customer_id: 'cus_1', payment_method: 'pm_1', currency: 'EUR' };
const SIZES = [1_000, 2_500, 6_000, 10_000];

export const orderName = (run: string, n: number): string => `ord_${run}_${n}`;
/** The payment by which a paid order was paid, or an open one may be. */
export const paymentName = (run: string, n: number): string => `pay_${run}_${n}`;

/** @param other another body under the same key: whoever sends it has mixed something up */
export function requestOf(run: string, { kind, target, size }: Intent, other: boolean): Request {
  const amount = (SIZES[size] ?? 1_000) + (other ? 1 : 0);
  const open = orderName(run, PAID_ORDERS + (target % OPEN_ORDERS));
  switch (kind) {
    case 'refund':
      return { path: '/v1/refunds', body: { source: 'sim', payment_id: paymentName(run, target), amount } };
    case 'charge':
      return { path: '/v1/charges', body: { ...CARD, order_id: open, amount: amount - (other ? 2 : 0) } };
    case 'topUp':
      return { path: `/v1/wallets/wal_${run}_${target}/top-ups`, body: { ...CARD, amount } };
    case 'payout':
      return {
        path: '/v1/payouts',
        body: {
          ...{ source: 'sim', seller_id: `sel_${run}_${target}`, settlement_date: `2026-12-0${size + 1}` },
          ...{ amount, currency: 'EUR', destination: 'acc_1' },
        },
      };
    case 'checkout':
      return {
        path: `/v1/orders/${open}/checkout`,
        body: { source: 'sim', return_url: `https://shop.example/${other ? 'other' : 'back'}` },
      };
    case 'order':
      return {
        path: '/v1/orders',
        body: orderBody(`ord_${run}_new_${target}_${size}`, amount),
      };
  }
}

function orderBody(id: string, amount: number): object {
  const lines = [{ id: 'l1', kind: 'booking', amount }];
  return { id, currency: 'EUR', amount, customer: { id: 'cus_1' }, lines };
}
