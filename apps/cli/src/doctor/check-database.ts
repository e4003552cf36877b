import pg from 'pg';
import type { Check } from '../checks/check.ts';

const oldest = 150_000;
const leastCloseMs = 5_000;

/** The PostgreSQL of DATABASE_URL: whether it answers, is new enough, and agrees about the time. */
export async function checkDatabase(url: string): Promise<readonly Check[]> {
  const base = { part: 'database', name: 'PostgreSQL' } as const;
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ number: string; version: string; now: Date }>(
      `select current_setting('server_version_num') as number, current_setting('server_version') as version, clock_timestamp() as now`,
    );
    const { number, version, now } = rows[0]!;
    const isNew = Number(number) >= oldest;
    const apartMs = Math.abs(Date.now() - now.getTime());
    const agrees = apartMs < leastCloseMs;
    return [
      {
        ...base,
        well: isNew,
        says: `version ${version}`,
        ...(!isNew && { advice: 'Longwave needs PostgreSQL 15 or newer.' }),
      },
      {
        ...base,
        name: 'its clock',
        well: agrees,
        says: agrees ? 'agrees with this machine' : `${Math.round(apartMs / 1_000)} s from that of this machine`,
        ...(!agrees && { advice: 'Synchronise both machines by NTP: tokens and leases depend on the time.' }),
      },
    ];
  } catch (error) {
    const says = (error as Error).message || (error as { code?: string }).code || 'does not answer';
    return [{ ...base, well: false, says, advice: 'Check DATABASE_URL, the firewall, and pg_hba.conf of the server.' }];
  } finally {
    await client.end().catch(() => undefined);
  }
}
