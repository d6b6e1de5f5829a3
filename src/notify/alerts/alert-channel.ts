import type { AlertChannelName, AlertMessage } from '../../domain/plan-alerts.ts';

/** A way to tell people. `send` throws a `DeliveryError` where nothing went out. */
export interface AlertChannel {
  readonly name: AlertChannelName;
  send(message: AlertMessage, signal: AbortSignal): Promise<void>;
}
