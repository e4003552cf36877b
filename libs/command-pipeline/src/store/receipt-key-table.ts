import type { Pool } from '@longwave/postgres';
import type { JWK } from 'jose';
import type { Columns } from '../generated/rows.ts';

/** Saves public keys that are not saved yet. A saved key never changes. */
export async function saveReceiptKeys(pool: Pool, keys: readonly JWK[]): Promise<void> {
  await pool.query(
    `insert into receipt_key (kid, x) select kid, x from unnest($1::text[], $2::text[]) as k(kid, x)
     on conflict do nothing`,
    [keys.map(({ kid }) => kid), keys.map(({ x }) => x)],
  );
}

/** Every saved key as it is published, the newest first. */
export async function listReceiptKeys(pool: Pool): Promise<readonly JWK[]> {
  const { rows } = await pool.query<Columns<'receipt_key', 'kid' | 'x'>>(
    'select kid, x from receipt_key order by first_seen_at desc, kid, x',
  );
  return rows.map(({ kid, x }) => ({ kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig' }));
}
