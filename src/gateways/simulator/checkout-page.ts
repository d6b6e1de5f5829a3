import { escapeHtml } from '../../domain/escape-html.ts';
import type { Payment } from './state.ts';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color:#1c2430}
h1{font-size:1.25rem}.sum{font-size:2rem;font-weight:600;margin:.5rem 0}button{font:inherit;padding:.6rem 1.4rem;
border:1px solid #1c2430;border-radius:.4rem;background:#fff;cursor:pointer}button.pay{background:#1c2430;color:#fff}
form{display:inline}.hint{color:#5b6675;font-size:.9rem}li{font-family:ui-monospace,monospace;font-size:.9rem}`;

/** The page on which a customer pays, or fails to. `all`: every payment of the order, this one among them. */
export function checkoutPage(payment: Payment, all: readonly Payment[]): string {
  const path = `/checkout/${encodeURIComponent(payment.id)}`;
  const rows = all.map(({ id, status }) => `<li>${escapeHtml(id)} ${escapeHtml(status)}</li>`).join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Checkout</title><style>${STYLE}</style></head><body>
<h1>Order ${escapeHtml(payment.order_id ?? 'without a number')}</h1>
<p class="sum">${escapeHtml(String(payment.amount ?? '?'))} ${escapeHtml(payment.currency ?? '')}</p>
<p class="hint">In minor units. This is the simulator: no money moves.</p>
<form method="post" action="${path}/pay"><button class="pay">Pay</button></form>
<form method="post" action="${path}/fail"><button>Fail</button></form>
<p class="hint">Try clicking Pay twice, as impatient customers do: the second click makes a second payment for the same
order and captures it too.</p><ul>${rows}</ul></body></html>`;
}
