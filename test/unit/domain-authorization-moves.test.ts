import { describe, expect, it } from 'vitest';
import {
  AUTHORIZATION_MOVE_KINDS,
  authorizationMoveEnd,
  refuseAuthorizationMove,
  type AuthorizationMoveToWeigh,
} from '../../src/domain/authorization-moves.ts';
import {
  authorizationMoveId,
  authorizationMoveWorkflowId,
  parseAuthorizationMoveId,
  parseMoneyWorkflowId,
} from '../../src/domain/keys.ts';
import { ORDER_STATUSES } from '../../src/domain/order-states.ts';
import { PAYMENT_STATUSES } from '../../src/domain/payment-states.ts';
import { REFUND_STATUSES } from '../../src/domain/refund-states.ts';

const asked: AuthorizationMoveToWeigh = {
  ...{ kind: 'capture', paymentStatus: 'authorized', orderStatus: 'payment_pending' },
  ...{ same: null, opposite: null, amount: null, authorized: 100n, inOrdersCurrency: true },
};

describe.each(AUTHORIZATION_MOVE_KINDS)('a %s', (kind) => {
  it('is of an authorised payment, and of no other', () => {
    const allowed = PAYMENT_STATUSES.filter(
      (paymentStatus) => refuseAuthorizationMove({ ...asked, kind, paymentStatus }) === null,
    );
    expect(allowed).toEqual(['authorized']);
  });

  it('is the one of its kind, whatever became of it', () => {
    for (const same of REFUND_STATUSES) expect(refuseAuthorizationMove({ ...asked, kind, same })).toBe('exists');
  });

  it('follows the other kind only where that has failed', () => {
    const allowed = REFUND_STATUSES.filter(
      (opposite) => refuseAuthorizationMove({ ...asked, kind, opposite }) === null,
    );
    expect(allowed).toEqual(['failed']);
  });

  it('has the id of its payment, which reads back', () => {
    const id = authorizationMoveId('sim', 'pay:1%');
    expect(parseAuthorizationMoveId(id)).toEqual({ source: 'sim', paymentId: 'pay:1%' });
    expect(parseMoneyWorkflowId(kind, authorizationMoveWorkflowId(kind, id))).toBe(id);
    for (const other of ['sim', 'sim:pay:1', 'sim:pay%3a1', '']) expect(parseAuthorizationMoveId(other)).toBeNull();
  });
});

describe('a capture', () => {
  it('is of money that its order still takes, or of one that is not there yet', () => {
    const allowed = [...ORDER_STATUSES, null].filter(
      (orderStatus) => refuseAuthorizationMove({ ...asked, orderStatus }) === null,
    );
    expect(allowed).toEqual(['pending_payment', 'payment_pending', 'partially_paid', 'failed_final', null]);
  });

  it('is in the currency of its order', () => {
    expect(refuseAuthorizationMove({ ...asked, inOrdersCurrency: false })).toBe('other_currency');
    expect(refuseAuthorizationMove({ ...asked, inOrdersCurrency: false, kind: 'void' })).toBeNull();
  });

  it('is of all that is authorised, or of less', () => {
    const refusals = [1n, 99n, 100n, 101n].map((amount) => refuseAuthorizationMove({ ...asked, amount }));
    expect(refusals).toEqual([null, null, null, 'exceeds_authorized']);
  });
});

describe('a void', () => {
  it('is possible whatever became of the order', () => {
    for (const orderStatus of ORDER_STATUSES) {
      expect(refuseAuthorizationMove({ ...asked, kind: 'void', orderStatus })).toBeNull();
    }
  });
});

describe('the end of a payment', () => {
  it('is the success of one of both and the failure of the other one; before it ends, both are open', () => {
    const ends = PAYMENT_STATUSES.map((status) => [
      status,
      authorizationMoveEnd('capture', status)?.status,
      authorizationMoveEnd('void', status)?.status,
    ]);
    expect(ends).toEqual([
      ['pending', undefined, undefined],
      ['authorized', undefined, undefined],
      ['captured', 'succeeded', 'failed'],
      ['failed', 'failed', 'succeeded'],
      ['expired', 'failed', 'succeeded'],
    ]);
  });
});
