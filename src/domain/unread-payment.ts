/** A payment whose gateway gave no answer about it that can be used: an error, or something that is refused as an answer. */
export interface UnreadPayment {
  /** What the gateway answered, as a sentence. */
  readonly message: string;
  /** The gateway asked for as much patience, in milliseconds; 0 where it did not. */
  readonly retryAfterMs: number;
}

/** How the reason begins why an event waits for its payment to be read; found again by it. */
export const UNREAD = 'The payment cannot be read: ';

/** The same, for whoever looks at the event. */
export function unreadReason({ message }: UnreadPayment): string {
  return UNREAD + message;
}

/** For the person who is asked about it. */
export function unreadQuestion(unread: UnreadPayment): string {
  return (
    `${unreadReason(unread)} See at the gateway what became of it, and ask the gateway why. ` +
    'It is asked again every hour, and this closes by itself once the answer can be used.'
  );
}
