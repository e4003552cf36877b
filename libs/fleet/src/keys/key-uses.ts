import { decodeProtectedHeader } from 'jose';
import { webhookKeyName } from '@longwave/principal';
import { namesOf } from '@longwave/services';
import pg from 'pg';
import { ownApps } from '../apps.ts';
import { signedByFormerAuthority } from '../development-ca.ts';
import { openSecrets } from '../secrets.ts';
import { keyPaths, readKeys } from './key-files.ts';
import type { KeyName } from './key-kinds.ts';
import type { Installation } from './rotate-keys.ts';

async function textsOf(adminUrl: string, query: string): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    return (await client.query<{ text: string }>(query)).rows.map(({ text }) => text);
  } finally {
    await client.end();
  }
}

/**
 * How many things still need a key before the newest: secrets of codes, webhook endpoints, certificates. 0 for keys of another kind.
 * Throws while the installation is stopped, where the database must be asked.
 */
export async function countUses(name: KeyName, { data, access }: Installation): Promise<number> {
  if (name === 'ca') return signedByFormerAuthority(data.tls, [...namesOf(ownApps.services), 'operator']).length;
  if (name !== 'second-factors' && name !== 'webhooks') return 0;
  if (!access) throw new Error('Only a running service can say what needs the key before. Start it with npm start.');
  if (name === 'second-factors') {
    const [newest] = readKeys(keyPaths(data.secrets, name).own);
    const sealed = await textsOf(access.adminDatabaseUrl, 'select sealed as text from identity.second_factor');
    return sealed.filter((text) => decodeProtectedHeader(text).kid !== newest?.['kid']).length;
  }
  const [newest = ''] = openSecrets(data.secrets, ownApps.services).variables.WEBHOOK_SECRET_KEYS.split(',');
  const used = await textsOf(
    access.adminDatabaseUrl,
    `select attributes ->> 'secret_key' as text from product.resource
      where resource_type = 'webhook_endpoints' and lifecycle_state <> 'deleted'
      union all
     select attributes -> 'previous_secret' ->> 'key' from product.resource
      where resource_type = 'webhook_endpoints' and lifecycle_state <> 'deleted'
        and (attributes -> 'previous_secret' ->> 'valid_until')::timestamptz > now()`,
  );
  return used.filter((key) => key !== webhookKeyName(Buffer.from(newest, 'hex'))).length;
}
