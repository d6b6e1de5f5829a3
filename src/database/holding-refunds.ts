import { HOLDING_REFUND_STATUSES } from '../domain/refund-states.ts';

/** The statuses of refunds that hold their amount (E6), as SQL: `status in ${HOLDING_REFUNDS}`. */
export const HOLDING_REFUNDS = `(${HOLDING_REFUND_STATUSES.map((status) => `'${status}'`).join(', ')})`;
