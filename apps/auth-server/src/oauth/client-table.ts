import { oauthClients, type Attributes } from '@longwave/command-catalog';
import type { Pool } from '@longwave/postgres';
import type { Columns } from '../generated/rows.ts';

/** A registered client. */
export interface OAuthClient extends Attributes<'oauth_clients'> {
  /** `ocl_…` */
  readonly id: string;
  readonly isActive: boolean;
}

/** The client with this `client_id`, active or not; undefined when nobody registered it. */
export async function findClient(pool: Pool, clientId: string): Promise<OAuthClient | undefined> {
  if (!oauthClients.attributes.shape.client_id.safeParse(clientId).success) return undefined;
  const { rows } = await pool.query<Columns<'resource', 'id' | 'lifecycle_state' | 'attributes'>>({
    name: 'find_oauth_client',
    text: `select c.id, c.lifecycle_state, c.attributes from unique_key k join resource c on c.id = k.resource_id
           where k.resource_type = 'oauth_clients' and k.attribute = 'client_id' and k.value = $1`,
    values: [clientId],
  });
  const [row] = rows;
  if (!row) return undefined;
  return {
    id: row.id,
    isActive: row.lifecycle_state === 'active',
    ...oauthClients.attributes.parse(row.attributes),
  };
}

/** Whether a document describes any client. */
export async function hasDescribedClients(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from unique_key
     where resource_type = 'oauth_clients' and attribute = 'client_id' and starts_with(value, 'https://') limit 1`,
  );
  return rowCount !== 0;
}
