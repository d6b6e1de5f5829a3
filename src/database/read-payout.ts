import type { MoneyStatus } from './money-move.ts';
import type { Db } from './pool.ts';

export interface Payout {
  readonly id: string;
  readonly source: string;
  readonly sellerId: string;
  /** YYYY-MM-DD */
  readonly settlementDate: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly destination: string;
  readonly status: MoneyStatus;
  readonly reference: string;
  readonly gatewayPayoutId: string | null;
  readonly supersededGatewayIds: readonly string[];
  readonly failureCode: string | null;
  readonly createdAt: Date;
}

export async function readPayout(db: Db, id: string): Promise<Payout | null> {
  const { rows } = await db.query<Payout>(
    `select id, source, seller_id as "sellerId", to_char(settlement_date, 'YYYY-MM-DD') as "settlementDate", amount,
            currency, destination, status, reference, gateway_payout_id as "gatewayPayoutId",
            superseded_gateway_ids as "supersededGatewayIds", failure_code as "failureCode", created_at as "createdAt"
     from payouts where id = $1`,
    [id],
  );
  return rows[0] ?? null;
}
