import type { EventReading } from '../../src/domain/event-reading.ts';
import type { Gateway } from '../../src/gateways/gateway.ts';
import { startCuttingProxy, type CuttingProxy } from './cutting-proxy.ts';
import { LOCALSTRIPE_KEY, type Localstripe } from './localstripe.ts';
import { gatewayAt } from './scripted-gateway.ts';
import { startScriptedServer } from './scripted-server.ts';

const SECRET = 'whsec_localstripe';

/** The Stripe adapter before its stand-in, which sends it webhooks. */
export interface LocalstripeLab {
  readonly gateway: Gateway;
  /** Between the two; it loses answers when told to. */
  readonly proxy: CuttingProxy;
  /** What the adapter reads of the deliveries so far; each has to pass the signature first. */
  readings(): EventReading[];
  /** The id of a card of this number that is of no customer yet. */
  card(number: string): Promise<string>;
  close(): Promise<void>;
}

/** @param endpoints the names under which our address is registered; each is sent every event */
export async function startLocalstripeLab(stripe: Localstripe, endpoints: readonly string[]): Promise<LocalstripeLab> {
  const proxy = await startCuttingProxy(stripe.url);
  const receiver = await startScriptedServer((_request, response) => {
    response.end();
  });
  for (const name of endpoints) await stripe.registerWebhook(name, receiver.url, SECRET);
  const account = { name: 'stripe', kind: 'stripe', apiKey: LOCALSTRIPE_KEY } as const;
  const webhookSecrets = [{ secret: SECRET, eventsBefore: null }];
  const gateway = gatewayAt(proxy.url, { ...account, webhookSecrets }, 1_000);
  return {
    gateway,
    proxy,
    readings: () =>
      receiver.requests.map(({ body, headers }) => {
        const bytes = Buffer.from(body);
        gateway.verify({ body: bytes, headers, now: Date.now() });
        return gateway.read(bytes, headers);
      }),
    async card(number) {
      const expiry = { 'card[exp_month]': '12', 'card[exp_year]': '2050', 'card[cvc]': '123' };
      const form = { type: 'card', 'card[number]': number, ...expiry };
      return (await stripe.post('/v1/payment_methods', form)).id;
    },
    async close() {
      await Promise.all([proxy.close(), receiver.close(), stripe.stop()]);
    },
  };
}
