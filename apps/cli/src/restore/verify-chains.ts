import { exportLine, verifyChain } from '@longwave/command-pipeline/receipts';
import type { JWK } from 'jose';
import pg from 'pg';

/** The schemas whose commands have receipts. */
const schemas = ['product', 'identity'] as const;

/** The chains of a database. */
export interface VerifiedChains {
  readonly chains: number;
  readonly receipts: number;
  /** Sentences; none when every chain is whole. */
  readonly problems: readonly string[];
}

/** Verifies the chain of receipts of every workspace, up to its head: none is changed, missing or added. */
export async function verifyChains(url: string): Promise<VerifiedChains> {
  const client = new pg.Client({ connectionString: url, application_name: 'restore' });
  client.on('error', () => undefined);
  await client.connect();
  const problems: string[] = [];
  let [chains, receipts] = [0, 0];
  try {
    // A command that ends meanwhile is in all of it or in none.
    await client.query('begin transaction isolation level repeatable read read only');
    const keys = await Promise.all(
      schemas.map(async (schema) => (await client.query<JWK>(`select kid, x from ${schema}.receipt_key`)).rows),
    );
    const jwks = keys.flat().map(({ kid, x }): JWK => ({ kty: 'OKP', crv: 'Ed25519', kid, x }));
    for (const schema of schemas) {
      const { rows: heads } = await client.query<{
        readonly workspace_id: string;
        readonly seq: number;
        readonly head: string;
      }>(`select workspace_id, seq, head from ${schema}.receipt_chain where seq > 0 order by workspace_id`);
      for (const { workspace_id: workspace, seq, head } of heads) {
        const { rows } = await client.query<{ readonly seq: number; readonly id: string; readonly jws: string }>(
          `select seq, id, jws from ${schema}.receipt where workspace_id = $1 order by seq`,
          [workspace],
        );
        const found = await verifyChain(rows.map(exportLine).join(''), jwks);
        chains += 1;
        receipts += rows.length;
        if (!found.ok) problems.push(`${workspace} in ${schema}: ${found.problem}.`);
        else if (found.receipts !== seq || found.head !== head)
          problems.push(`${workspace} in ${schema}: the chain ends at receipt ${found.receipts}, not at ${seq}.`);
      }
    }
    return { chains, receipts, problems };
  } finally {
    await client.end();
  }
}
