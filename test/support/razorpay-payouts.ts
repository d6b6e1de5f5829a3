import { randomBytes } from 'node:crypto';

export interface StandInPayout {
  id: string;
  entity: 'payout';
  fund_account_id: string;
  amount: number;
  currency: string;
  notes: Record<string, unknown> | never[];
  status: string;
  mode: string;
  purpose: string;
  reference_id: string | null;
  status_details: { reason: string; description: string } | null;
  created_at: number;
}

export interface StandInFundAccount {
  id: string;
  entity: 'fund_account';
  account_type: string;
  active: boolean;
}

/** What a payout can go by, by the type of its fund account. */
const MODES: Readonly<Record<string, readonly string[]>> = {
  bank_account: ['NEFT', 'RTGS', 'IMPS'],
  vpa: ['UPI'],
  card: ['NEFT', 'IMPS', 'UPI', 'card'],
};

/** The payouts of one RazorpayX account and where they may go. */
export class RazorpayPayouts {
  readonly accountNumber = '7878780080316316';
  readonly fundAccounts = new Map<string, StandInFundAccount>();
  /** In the order they were made. */
  readonly made: StandInPayout[] = [];
  /** In paise. */
  balance = 1_000_000_000;
  /** The state that the next payouts begin in. */
  begins = 'processing';
  /** What the account puts on one page, whatever it is asked for. */
  largestPage = 100;

  addFundAccount(accountType: string): string {
    const id = `fa_${randomBytes(7).toString('hex')}`;
    this.fundAccounts.set(id, { id, entity: 'fund_account', account_type: accountType, active: true });
    return id;
  }

  /** Makes one, or says why not. */
  make(body: any): StandInPayout | string {
    const { account_number: account, fund_account_id: to, amount, mode, reference_id: reference } = body;
    if (account !== this.accountNumber) return 'The RazorpayX account number is invalid.';
    const fundAccount = this.fundAccounts.get(to);
    if (fundAccount === undefined) return 'The id provided does not exist';
    if (!Number.isInteger(amount) || amount < 100) return 'The amount must be at least INR 1.00';
    if (body.currency !== 'INR') return 'The currency must be INR';
    if (!MODES[fundAccount.account_type]?.includes(mode)) return 'The mode does not fit the fund account';
    if (typeof body.purpose !== 'string') return 'The purpose field is required.';
    if (typeof reference === 'string' && reference.length > 40)
      return 'The reference id may not be greater than 40 characters.';
    if (amount > this.balance && body.queue_if_low_balance !== true) {
      return 'Your account does not have enough balance to carry out the payout operation.';
    }
    this.balance -= amount;
    return this.add({
      fund_account_id: to,
      amount,
      mode,
      purpose: body.purpose,
      reference_id: reference ?? null,
      notes: body.notes ?? [],
      status: this.begins,
    });
  }

  /** A payout that somebody made from the dashboard. */
  add(given: Partial<StandInPayout>): StandInPayout {
    const payout: StandInPayout = {
      id: `pout_${randomBytes(7).toString('hex')}`,
      entity: 'payout',
      fund_account_id: 'fa_00000000000001',
      amount: 100,
      currency: 'INR',
      notes: [],
      status: 'processed',
      mode: 'IMPS',
      purpose: 'payout',
      reference_id: null,
      status_details: null,
      created_at: Math.floor(Date.now() / 1000),
      ...given,
    };
    this.made.push(payout);
    return payout;
  }

  /** Newest first, as Razorpay lists; or why there is no list. */
  page(query: URLSearchParams): object | string {
    if (query.get('account_number') !== this.accountNumber) return 'The account number field is required.';
    const reference = query.get('reference_id');
    const [from, to] = [Number(query.get('from') ?? 0), Number(query.get('to') ?? Infinity)];
    const all = this.made
      .filter((one) => reference === null || one.reference_id === reference)
      .filter((one) => one.created_at >= from && one.created_at <= to)
      .toReversed();
    const skip = Number(query.get('skip') ?? 0);
    const items = all.slice(skip, skip + Math.min(Number(query.get('count') ?? 10), this.largestPage));
    return { entity: 'collection', count: items.length, items };
  }
}
