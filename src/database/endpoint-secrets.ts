import { inTransaction, type Db, type Pool } from './pool.ts';

/** Where an endpoint's webhooks go, and the secrets that sign them. */
export interface EndpointTarget {
  readonly url: string;
  readonly disabled: boolean;
  /** Newest first. */
  readonly secrets: readonly string[];
}

/** Long enough for a receiver to be given the new secret on the next working day. */
const ROTATION_OVERLAP_HOURS = 24;

/** What a try needs, as it stands now; null where there is no such endpoint. */
export async function readEndpointTarget(db: Db, id: string): Promise<EndpointTarget | null> {
  const { rows } = await db.query<EndpointTarget>(
    `select p.url, p.disabled,
            array(select s.secret from endpoint_secrets s
                  where s.endpoint_id = p.id and (s.expires_at is null or s.expires_at > now())
                  order by s.created_at desc) as secrets
     from endpoints p where p.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * Gives an endpoint a new secret. Those before it go on for the overlap, and webhooks are signed with all of them until then;
 * what is over is forgotten.
 *
 * @returns false where there is no such endpoint
 */
export async function rotateEndpointSecret(pool: Pool, id: string, secret: string): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const known = await tx.query('select from endpoints where id = $1 for no key update', [id]);
    if (known.rowCount === 0) return false;
    await tx.query('delete from endpoint_secrets where endpoint_id = $1 and expires_at <= now()', [id]);
    await tx.query(
      `update endpoint_secrets
       set expires_at = least(coalesce(expires_at, 'infinity'), now() + interval '${ROTATION_OVERLAP_HOURS} hours')
       where endpoint_id = $1`,
      [id],
    );
    await tx.query('insert into endpoint_secrets (endpoint_id, secret) values ($1, $2)', [id, secret]);
    return true;
  });
}
