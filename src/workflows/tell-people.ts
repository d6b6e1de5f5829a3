import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { PAIDONCE_NEEDS_HUMAN, PAIDONCE_ORDER_ID, PAIDONCE_STATUS } from './messages.ts';

export interface WhatPeopleSee {
  readonly status: string;
  readonly orderId: string | null;
  readonly needsHuman: boolean;
  /** One sentence that a support person understands. */
  readonly details: string;
}

/**
 * Keeps the run's search attributes and current details up to date (H3), and writes them only when they change: each
 * writing is an event in the history.
 */
export function createTellPeople(): (seen: WhatPeopleSee) => void {
  let last = '';
  return (seen) => {
    setCurrentDetails(seen.details);
    const now = JSON.stringify([seen.status, seen.orderId, seen.needsHuman]);
    if (now === last) return;
    last = now;
    upsertSearchAttributes([
      { key: PAIDONCE_STATUS, value: seen.status },
      { key: PAIDONCE_NEEDS_HUMAN, value: seen.needsHuman },
      ...(seen.orderId === null ? [] : [{ key: PAIDONCE_ORDER_ID, value: seen.orderId }]),
    ]);
  };
}
