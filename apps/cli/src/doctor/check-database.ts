import pg from 'pg';
import type { Check } from '../checks/check.ts';
import { checkSchemas } from './check-schemas.ts';

const oldest = 150_000;
const leastCloseMs = 5_000;
const part = 'database';

async function checkServer(client: pg.Client): Promise<readonly Check[]> {
  const { rows } = await client.query<{ number: string; version: string; role: string; now: Date }>(
    `select current_setting('server_version_num') as number, current_setting('server_version') as version, current_user as role,
       clock_timestamp() as now`,
  );
  const { number, version, role, now } = rows[0]!;
  const isNew = Number(number) >= oldest;
  const apartMs = Math.abs(Date.now() - now.getTime());
  const agrees = apartMs < leastCloseMs;
  return [
    {
      ...{ part, name: 'PostgreSQL', well: isNew, says: `version ${version}, as role ${role}` },
      ...(!isNew && { advice: 'Longwave needs PostgreSQL 15 or newer.' }),
    },
    {
      ...{ part, name: 'its clock', well: agrees },
      says: agrees ? 'agrees with this machine' : `${Math.round(apartMs / 1_000)} s from that of this machine`,
      ...(!agrees && { advice: 'Synchronise both machines by NTP: tokens and leases depend on the time.' }),
    },
  ];
}

/** The PostgreSQL of DATABASE_URL: whether it answers, is new enough, agrees about the time, and has the schemas of this login. */
export async function checkDatabase(url: string): Promise<readonly Check[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return [...(await checkServer(client)), ...(await checkSchemas(client))];
  } catch (error) {
    const says = (error as Error).message || (error as { code?: string }).code || 'does not answer';
    const advice = 'Check DATABASE_URL, the firewall, and pg_hba.conf of the server.';
    return [{ part, name: 'PostgreSQL', well: false, says, advice }];
  } finally {
    await client.end().catch(() => undefined);
  }
}
