import type { DeliveryAlias } from '@longwave/exchange-messages';
import type { Transaction } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** Hosts of a workspace: names are scarce, and kept for ever. */
export const maxHosts = 20;

/**
 * Claims a host name for a workspace and an address below it for an alias, both for ever. Answers what stands in the way: the host of
 * another workspace, the address of another alias, or that the workspace has as many hosts as it may.
 */
export async function claimAddress(
  tx: Transaction,
  owner: { readonly workspaceId: string; readonly authorityId: string },
  { host, path_slug: slug, alias }: DeliveryAlias,
): Promise<'host' | 'address' | 'too_many_hosts' | undefined> {
  const { rows: counted } = await tx.query<{ readonly others: number }>({
    name: 'count_hosts',
    text: `select count(*)::int as others from host_slug where workspace_id = $1 and host <> $2`,
    values: [owner.workspaceId, host],
  });
  if (counted[0]!.others >= maxHosts) return 'too_many_hosts';
  const { rows: hosts } = await tx.query<Columns<'host_slug', 'workspace_id'>>({
    name: 'claim_host',
    text: `insert into host_slug (host, workspace_id) values ($1, $2)
           on conflict (host) do update set host = excluded.host returning workspace_id`,
    values: [host, owner.workspaceId],
  });
  if (hosts[0]!.workspace_id !== owner.workspaceId) return 'host';
  const { rows } = await tx.query<Columns<'alias_address', 'authority_id' | 'alias'>>({
    name: 'claim_address',
    text: `insert into alias_address (host, path_slug, authority_id, alias) values ($1, $2, $3, $4)
           on conflict (host, path_slug) do update set host = excluded.host returning authority_id, alias`,
    values: [host, slug, owner.authorityId, alias],
  });
  return rows[0]!.authority_id === owner.authorityId && rows[0]!.alias === alias ? undefined : 'address';
}

/** Gives back the addresses, and the hosts, of aliases of which no message is left. */
export async function releaseAddresses(
  tx: Transaction,
  removed: readonly Columns<'message', 'authority_id' | 'subject_type' | 'source_id'>[],
): Promise<void> {
  const aliases = removed.filter(({ subject_type: type }) => type === 'alias');
  if (aliases.length === 0) return;
  const { rows } = await tx.query<Columns<'alias_address', 'host'>>({
    name: 'release_addresses',
    text: `delete from alias_address a using unnest($1::text[], $2::text[]) as gone(authority_id, alias)
           where a.authority_id = gone.authority_id and a.alias = gone.alias and not exists (
             select from message m where m.authority_id = a.authority_id and m.subject_type = 'alias' and m.source_id = a.alias)
           returning a.host`,
    values: [aliases.map((one) => one.authority_id), aliases.map((one) => one.source_id)],
  });
  await tx.query({
    name: 'release_hosts',
    text: `delete from host_slug h where h.host = any($1) and not exists (select from alias_address a where a.host = h.host)`,
    values: [rows.map(({ host }) => host)],
  });
}
