import { oauthClients } from '@longwave/command-catalog';
import { transaction, type Pool } from '@longwave/postgres';
import { diagnosticsPurposes, type ApiScope, type DiagnosticsPurpose } from '@longwave/principal';
import { z } from 'zod';
import type { Rows } from '../generated/rows.ts';
import { hasAccessBy } from '../identity-table.ts';

type Stored = Rows['connector_grant'];

/** Why a grant ended before its time: a code or refresh token was used twice, the client gave it back, or the person took it back. */
export type RevocationReason = 'reuse' | 'client' | 'person';

/** What a person allowed a client. */
export interface NewGrant {
  readonly id: string;
  readonly userId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly resource: string;
  readonly redirectHost: string;
  readonly scopes: readonly string[];
  /** The purposes for which traces of decisions may be read. */
  readonly purposes: readonly DiagnosticsPurpose[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Names the interaction in which it was allowed. */
  readonly interactionHash: string;
}

/**
 * Saves what a person allowed in an interaction. Answers the id of its grant, which is an earlier one when the person had allowed it
 * before; undefined when another person had.
 */
export async function insertGrant(pool: Pool, grant: NewGrant): Promise<string | undefined> {
  const { rows } = await pool.query<Pick<Stored, 'id'>>(
    `insert into connector_grant
       (id, user_id, account_id, client_id, resource, redirect_host, scopes, created_at, expires_at, interaction_hash,
        purposes)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (interaction_hash) do nothing returning id`,
    [
      ...[grant.id, grant.userId, grant.accountId, grant.clientId, grant.resource, grant.redirectHost],
      ...[grant.scopes, grant.createdAt, grant.expiresAt, grant.interactionHash, grant.purposes],
    ],
  );
  if (rows[0]) return rows[0].id;
  const earlier = await pool.query<Pick<Stored, 'id'>>(
    'select id from connector_grant where interaction_hash = $1 and user_id = $2',
    [grant.interactionHash, grant.userId],
  );
  return earlier.rows[0]?.id;
}

/** A grant that is over: whose it was, and for which client. */
export type RevokedGrant = Pick<Stored, 'id' | 'user_id' | 'client_id'>;

/**
 * Ends a grant with all its codes and tokens at once. Answers the grant when it had not ended before.
 * @param userId when given, only a grant of this person
 */
export const revokeGrant = (
  pool: Pool,
  grantId: string,
  reason: RevocationReason,
  userId?: string,
): Promise<RevokedGrant | undefined> =>
  transaction(pool, async (tx) => {
    const { rows } = await tx.query<RevokedGrant>(
      `update connector_grant set revoked_at = now(), revoked_reason = $2
       where id = $1 and revoked_at is null and ($3::text is null or user_id = $3)
       returning id, user_id, client_id`,
      [grantId, reason, userId ?? null],
    );
    const [grant] = rows;
    if (grant || userId === undefined) await tx.query('delete from oauth_artifact where grant_id = $1', [grantId]);
    return grant;
  });

/** Ends every grant of a person with all its codes and tokens at once. */
export const revokeGrantsOf = (pool: Pool, userId: string): Promise<void> =>
  transaction(pool, async (tx) => {
    const reason: RevocationReason = 'person';
    await tx.query(
      'update connector_grant set revoked_at = now(), revoked_reason = $2 where user_id = $1 and revoked_at is null',
      [userId, reason],
    );
    await tx.query('delete from oauth_artifact where grant_id in (select id from connector_grant where user_id = $1)', [
      userId,
    ]);
  });

/** A grant as the person who gave it sees it. */
export interface GivenGrant {
  readonly id: string;
  readonly clientName: string;
  readonly accountName: string;
  readonly redirectHost: string;
  readonly scopes: readonly ApiScope[];
  readonly purposes: readonly DiagnosticsPurpose[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

const givenRow = z.object({
  id: z.string(),
  client_name: z.string(),
  account_name: z.string(),
  redirect_host: z.string(),
  scopes: oauthClients.attributes.shape.scopes,
  purposes: z.array(z.enum(diagnosticsPurposes)),
  created_at: z.date(),
  last_used_at: z.date().nullable(),
});

/** The grants of a person that are in force, the newest first. One whose code no client has redeemed gives nothing. */
export async function listGrantsOf(pool: Pool, userId: string, now: Date): Promise<readonly GivenGrant[]> {
  const { rows } = await pool.query(
    `select g.id, c.attributes->>'name' as client_name, a.attributes->>'name' as account_name, g.redirect_host, g.scopes,
            coalesce(g.purposes, '{}') as purposes,
            g.created_at, g.last_used_at
     from connector_grant g
     join resource a on a.id = g.account_id
     join unique_key k on k.resource_type = 'oauth_clients' and k.attribute = 'client_id' and k.value = g.client_id
     join resource c on c.id = k.resource_id
     where g.user_id = $1 and g.revoked_at is null and g.expires_at > $2 and ${hasAccessBy('g.user_id', 'g.created_at')}
       and exists (select from oauth_artifact t
                   where t.grant_id = g.id and t.model = 'AuthorizationCode' and t.consumed_at is not null)
     order by g.created_at desc, g.id limit 200`,
    [userId, now],
  );
  return z
    .array(givenRow)
    .parse(rows)
    .map(({ id, scopes, purposes, ...row }) => ({
      ...{
        id,
        scopes,
        purposes,
        clientName: row.client_name,
        accountName: row.account_name,
        redirectHost: row.redirect_host,
      },
      ...{ createdAt: row.created_at, lastUsedAt: row.last_used_at },
    }));
}
