/** An event of ours, announced by the transaction that made it true (G1). */
export interface AnnouncedEvent {
  /** `outbox:{id}`: the same for every consumer, every target and every try; what receivers dedupe by. */
  readonly id: string;
  readonly type: string;
  /** When it was announced. */
  readonly at: Date;
  readonly aggregateVersion: bigint;
  /** Ids and amounts (minor units as decimal text); never personal data. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The order that an event is about, read afresh for each try: what it says about a person never enters workflow history. */
export interface AnnouncedOrder {
  readonly id: string;
  readonly currency: string;
  readonly amountDue: bigint;
  readonly amountPaid: bigint;
  readonly customer: { readonly id: string; readonly email: string | null; readonly name: string | null };
  readonly lines: readonly {
    readonly id: string;
    readonly kind: string;
    readonly amount: bigint;
    readonly quantity: number;
    readonly reference: string | null;
  }[];
  readonly invoices: readonly {
    readonly number: bigint;
    readonly kind: 'invoice' | 'credit_note';
    readonly amount: bigint;
    readonly refundId: string | null;
    readonly issuedAt: Date;
    /** A credit note that the transaction wrote which wrote the invoice: its part went back before the order was paid. */
    readonly withInvoice: boolean;
  }[];
}
