import type { Db } from './pool.ts';

/** A wallet as the API shows it. */
export interface WalletView {
  readonly id: string;
  readonly currency: string;
  /** Minor units: what the entries add up to. */
  readonly balance: bigint;
}

export async function readWallet(db: Db, id: string): Promise<WalletView | null> {
  const { rows } = await db.query<WalletView>('select id, currency, balance from wallets where id = $1', [id]);
  return rows[0] ?? null;
}
