import type { Transaction } from '@longwave/postgres';

/** Whether a key was ever registered, in any workspace and whatever became of it. */
export async function isKeyKnown(tx: Transaction, thumbprint: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'find_key_by_thumbprint',
    text: `select from resource where resource_type = 'machine_keys' and attributes ->> 'thumbprint' = $1 limit 1`,
    values: [thumbprint],
  });
  return rowCount === 1;
}
