import path from 'node:path';
import { listMigrations, workspaceRoot } from '@longwave/fleet/running';
import { migrationRoleOf, schemaOwners, serviceRoleOf, services } from '@longwave/services';
import pg from 'pg';
import type { Check } from '../checks/check.ts';

interface FoundSchema {
  readonly schema: string;
  readonly usable: boolean;
  /** Whether the history of its migrations is there and may be read. Runtime roles may not. */
  readonly history: 'readable' | 'sealed' | 'missing';
}

const advice =
  'Make schemas and roles, then apply the migrations: npm run migrate -- deploy (docs/kubernetes.md#before-the-first-installation).';

async function findSchemas(client: pg.Client, schemas: readonly string[]): Promise<readonly FoundSchema[]> {
  const { rows } = await client.query<FoundSchema>(
    `select n.nspname as schema, has_schema_privilege(n.oid, 'usage') as usable,
       case when c.oid is null then 'missing'
            when has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') then 'readable'
            else 'sealed' end as history
     from pg_namespace n left join pg_class c on c.relnamespace = n.oid and c.relname = '_prisma_migrations'
     where n.nspname = any($1)`,
    [schemas],
  );
  return rows;
}

async function checkMigrations(
  client: pg.Client,
  service: string,
  schema: string,
): Promise<Omit<Check, 'part' | 'name'>> {
  const own = listMigrations(path.join(workspaceRoot, 'apps', service, 'prisma')).map(({ name }) => name);
  const { rows } = await client.query<{ name: string }>(
    `select migration_name as name from ${pg.escapeIdentifier(schema)}._prisma_migrations
     where finished_at is not null and rolled_back_at is null`,
  );
  const missing = own.filter((each) => !rows.some(({ name }) => name === each));
  if (missing.length === 0) return { well: true, says: `all ${own.length} migrations of this release are applied` };
  const says = `${missing.length} of ${own.length} migrations are not applied, the first ${missing[0]}`;
  return { well: false, says, advice: 'Apply them before the services start: npm run migrate -- deploy' };
}

/**
 * The schemas that concern a login: that of the service whose role it is, else those of all services. Each must be there for it, with the
 * migrations of this release.
 * @param client connected
 */
export async function checkSchemas(client: pg.Client): Promise<readonly Check[]> {
  const { rows: logins } = await client.query<{ role: string }>('select current_user as role');
  const owners = schemaOwners(services);
  const own = owners.filter(([, schema]) =>
    [serviceRoleOf(schema), migrationRoleOf(schema)].includes(logins[0]?.role ?? ''),
  );
  const concerned = own.length > 0 ? own : owners;
  const found = await findSchemas(
    client,
    concerned.map(([, schema]) => schema),
  );
  const checks: Check[] = [];
  for (const [service, schema] of concerned) {
    const base = { part: 'database', name: `schema ${schema}` };
    const { usable, history } = found.find((each) => each.schema === schema) ?? {};
    if (usable === undefined) checks.push({ ...base, well: false, says: 'is not there', advice });
    else if (!usable) checks.push({ ...base, well: false, says: 'this role may not use it', advice });
    else if (history === 'missing') checks.push({ ...base, well: false, says: 'has no migrations yet', advice });
    else if (history === 'sealed')
      checks.push({ ...base, well: true, says: 'is there. Its migrations are known to the role of migrations alone' });
    else checks.push({ ...base, ...(await checkMigrations(client, service, schema)) });
  }
  return checks;
}
