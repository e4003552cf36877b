import type { Attributes } from '@longwave/command-catalog';
import type { Pool, Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

type IntentAttributes = Attributes<'serving_intents'>;

/** Keeps a version of a serving intent. */
export async function saveIntent(
  tx: Transaction,
  intent: {
    readonly id: string;
    readonly version: number;
    readonly workspaceId: string;
    readonly publishedAt: string;
  },
  attributes: IntentAttributes,
): Promise<void> {
  await tx.query({
    name: 'save_intent',
    text: `insert into intent (id, version, workspace_id, authority_id, attributes, published_at) values ($1, $2, $3, $4, $5, $6)
           on conflict (id, version) do nothing`,
    values: [
      ...[intent.id, intent.version, intent.workspaceId, attributes.authority_id, attributes],
      intent.publishedAt,
    ],
  });
}

export type IntentRow = Columns<
  'intent',
  'id' | 'version' | 'attributes' | 'published_at',
  { attributes: IntentAttributes }
>;

/** Actions that a page of versions has, but for its first version. */
const maxPageActions = 10_000;

/** The versions of an authority's intent after a version, in their order; fewer than the limit where they are long. */
export async function listIntents(
  pool: Pool,
  authorityId: string,
  afterVersion: number,
  limit: number,
): Promise<{ readonly intents: readonly IntentRow[]; readonly hasMore: boolean }> {
  const { rows } = await pool.query<IntentRow & { readonly found: number }>({
    name: 'list_intents',
    text: `select id, version, attributes, published_at, found from (
             select *, (count(*) over ())::int as found, sum(jsonb_array_length(attributes -> 'actions')) over (order by version)
               - jsonb_array_length(attributes -> 'actions') as before
             from (select * from intent where authority_id = $1 and version > $2 order by version limit $3) page) page
           where before < $4 order by version`,
    values: [authorityId, afterVersion, limit + 1, maxPageActions],
  });
  const intents = rows.slice(0, limit);
  return { intents, hasMore: intents.length < (rows[0]?.found ?? 0) };
}

/** One version of an intent. */
export async function findIntent(
  db: Pick<Pool, 'query'> | Transaction,
  workspaceId: string,
  id: string,
  version: number,
): Promise<Columns<'intent', 'authority_id' | 'attributes', { attributes: IntentAttributes }> | undefined> {
  const { rows } = await db.query<Columns<'intent', 'authority_id' | 'attributes', { attributes: IntentAttributes }>>({
    name: 'find_intent',
    text: `select authority_id, attributes from intent where id = $2 and version = $3 and workspace_id = $1`,
    values: [workspaceId, id, version],
  });
  return rows[0];
}

export interface Acknowledgement {
  readonly workspaceId: string;
  readonly intentId: string;
  readonly intentVersion: number;
  /** The OAuth client, or the name of our own service. */
  readonly acknowledgedBy: string;
  readonly status: 'applied' | 'rejected' | 'superseded';
  readonly detailCode: string | undefined;
  readonly planDigest: string | null;
  readonly appliedAt: Date;
}

/** Keeps the first acknowledgement of a hosting plane for a version; answers whether it is new. */
export async function insertAcknowledgement(tx: Transaction, said: Acknowledgement): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'insert_acknowledgement',
    text: `insert into acknowledgement (intent_id, intent_version, acknowledged_by, workspace_id, status, detail_code, plan_digest,
             applied_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (intent_id, intent_version, acknowledged_by) do nothing`,
    values: [
      ...[said.intentId, said.intentVersion, said.acknowledgedBy, said.workspaceId, said.status],
      ...[said.detailCode ?? null, said.planDigest, said.appliedAt],
    ],
  });
  return rowCount === 1;
}

export type AcknowledgementRow = Columns<
  'acknowledgement',
  'intent_version' | 'acknowledged_by' | 'status' | 'detail_code' | 'applied_at'
>;

export async function listAcknowledgements(
  db: Pick<Pool, 'query'>,
  intentId: string,
  versions: readonly number[],
): Promise<AcknowledgementRow[]> {
  const { rows } = await db.query<AcknowledgementRow>({
    name: 'list_acknowledgements',
    text: `select intent_version, acknowledged_by, status, detail_code, applied_at from acknowledgement
           where intent_id = $1 and intent_version = any($2) order by received_at`,
    values: [intentId, versions],
  });
  return rows;
}

/** How many newest intents were published before a time and have no acknowledgement of their platform. */
export async function countOverdue(pool: Pool, before: Date): Promise<number> {
  const { rows } = await pool.query<{ readonly overdue: number }>({
    name: 'count_overdue_intents',
    text: `select count(*)::int as overdue from (
             select distinct on (authority_id) id, version, authority_id, published_at from intent order by authority_id, version desc
           ) newest join authority on authority.id = newest.authority_id and authority.state = 'active'
           where published_at < $1 and not exists (
             select from acknowledgement k where k.intent_id = newest.id and k.intent_version >= newest.version
               and k.acknowledged_by = authority.client_id)`,
    values: [before],
  });
  return rows[0]!.overdue;
}
