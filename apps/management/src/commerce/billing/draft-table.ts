import type { Transaction } from '@longwave/postgres';

/** How many drafts of statements a campaign has. */
export async function countDrafts(tx: Transaction, campaignId: string): Promise<number> {
  const { rows } = await tx.query<{ readonly drafts: number }>({
    name: 'count_statement_drafts',
    text: `select count(*)::int as drafts from link l join resource r on r.id = l.from_id
           where l.to_id = $1 and l.name = 'campaign' and r.resource_type = 'billing_statements' and r.lifecycle_state = 'draft'`,
    values: [campaignId],
  });
  return rows[0]!.drafts;
}
