import type { Bank } from './bank.ts';
import { checkoutPage } from './checkout-page.ts';
import type { Reply, Request, Route } from './router.ts';
import type { Payment, State } from './state.ts';

/** No script is needed, and none gets in by way of an order's id. */
const HEADERS = { 'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'" };

/** What the customer's browser sees. */
export function checkoutRoutes(state: State, bank: Bank): Route[] {
  function of({ params }: Request): Payment {
    return bank.payment(params['id'] ?? '');
  }

  /** Back to the merchant with what came of it, or to the page where there is no way back. */
  function done(opened: Payment, outcome: Payment): Reply {
    if (opened.return_url === null)
      return { status: 303, headers: { location: `/checkout/${encodeURIComponent(opened.id)}` } };
    const back = new URL(opened.return_url);
    back.searchParams.set('payment_id', outcome.id);
    back.searchParams.set('status', outcome.status);
    return { status: 303, headers: { location: back.href } };
  }

  return [
    {
      method: 'GET',
      path: '/checkout/:id',
      handle(request) {
        const payment = of(request);
        const all = state.payments.by('order', payment.order_id ?? '');
        return { status: 200, html: checkoutPage(payment, all.length > 0 ? all : [payment]), headers: HEADERS };
      },
    },
    {
      method: 'POST',
      path: '/checkout/:id/pay',
      handle(request) {
        const opened = of(request);
        if (opened.status !== 'captured') return done(opened, bank.movePayment(opened.id, 'captured'));
        const { order_id, amount, currency, mode } = opened;
        return done(opened, bank.addPayment({ order_id, amount, currency, mode, status: 'captured' }, {}));
      },
    },
    {
      method: 'POST',
      path: '/checkout/:id/fail',
      handle(request) {
        const opened = of(request);
        const open = opened.status === 'pending' || opened.status === 'authorized';
        return done(opened, open ? bank.movePayment(opened.id, 'failed') : opened);
      },
    },
  ];
}
