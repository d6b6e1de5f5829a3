import type { Mode } from '../../domain/gateway-facts.ts';
import type { PaymentStatus } from '../../domain/payment-states.ts';
import type { GatewayRefundStatus } from '../../domain/refund-states.ts';
import { openJournal } from './journal.ts';
import { createTable, type Table } from './table.ts';

/** Rows are replaced whole and never changed in place. Amounts are integers of minor units up to 2^53 − 1. */
export interface Payment {
  readonly id: string;
  readonly order_id: string | null;
  readonly reference: string | null;
  readonly status: PaymentStatus;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly mode: Mode;
  readonly return_url: string | null;
  /** A pending one becomes captured by itself then; milliseconds since the epoch. */
  readonly completes_at: number | null;
}

export interface Refund {
  readonly id: string;
  readonly payment_id: string;
  readonly reference: string | null;
  readonly status: GatewayRefundStatus;
  readonly amount: number;
  readonly currency: string;
  readonly failure_code: string | null;
  readonly completes_at: number | null;
}

export interface Payout {
  readonly id: string;
  readonly seller_id: string;
  readonly reference: string | null;
  readonly status: 'pending' | 'paid' | 'failed';
  readonly amount: number;
  readonly currency: string;
  readonly destination: string;
  readonly completes_at: number | null;
}

export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Before then it is in no list; milliseconds since the epoch. */
  readonly listed_at?: number;
}

/** One copy of an event on its way; a repeated event has several. */
export interface Delivery {
  readonly id: string;
  readonly event_id: string;
  readonly state: 'pending' | 'acknowledged' | 'given_up' | 'dropped';
  readonly attempts: number;
  /** When it is sent next, milliseconds since the epoch. */
  readonly due_at: number;
  /** What the last attempt came to: an HTTP status, or a word. */
  readonly last: string | null;
}

/** An Idempotency-Key that was seen, and what came of it: an object, or a refusal. */
export interface UsedKey {
  readonly id: string;
  readonly request: string;
  readonly object_id: string | null;
  readonly refusal: { readonly status: number; readonly code: string } | null;
}

interface Setting {
  readonly id: 'faults';
  readonly value: unknown;
}

interface Tables {
  readonly payments: Table<Payment>;
  readonly refunds: Table<Refund>;
  readonly payouts: Table<Payout>;
  readonly events: Table<SentEvent>;
  readonly deliveries: Table<Delivery>;
  readonly keys: Table<UsedKey>;
  readonly settings: Table<Setting>;
}

type Change = {
  [Name in keyof Tables]: Tables[Name] extends Table<infer Row> ? readonly [Name, Row] : never;
}[keyof Tables];

export interface State extends Tables {
  /** These rows together, or none of them, also when the process is killed. */
  commit(...changes: Change[]): void;
  clear(): void;
  close(): void;
}

/** Everything the simulator knows, in memory, and on disk where a file is named. */
export function openState(file: string | null): State {
  const tables: Tables = {
    payments: createTable<Payment>({ reference: (row) => row.reference, order: (row) => row.order_id }),
    refunds: createTable<Refund>({ reference: (row) => row.reference, payment: (row) => row.payment_id }),
    payouts: createTable<Payout>({ reference: (row) => row.reference }),
    events: createTable<SentEvent>(),
    deliveries: createTable<Delivery>({ event: (row) => row.event_id }),
    keys: createTable<UsedKey>(),
    settings: createTable<Setting>(),
  };
  const journal = openJournal(file);

  function put([name, row]: Change): void {
    (tables[name] as Table<typeof row>).put(row);
  }

  for (const changes of journal.read() as Change[][]) changes.forEach(put);
  // The history of each row is of no use to a new process.
  journal.replace(
    (Object.keys(tables) as (keyof Tables)[]).flatMap((name) => tables[name].all().map((row) => [[name, row]])),
  );

  return {
    ...tables,
    commit(...changes) {
      journal.append(changes);
      changes.forEach(put);
    },
    clear() {
      journal.replace([]);
      for (const table of Object.values(tables) as { clear(): void }[]) table.clear();
    },
    close: () => journal.close(),
  };
}
