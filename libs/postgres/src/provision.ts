import pg from 'pg';

interface Login {
  readonly role: string;
  readonly password: string;
}

/** One owner of data: a schema and the role its service runs as. */
export interface SchemaOwner extends Login {
  readonly schema: string;
  /** The role that makes and changes the tables of this schema alone. Without one, an administrator does. */
  readonly migrator?: Login;
}

/** A schema, and the role of the service that has its rows. */
type SchemaUser = Pick<SchemaOwner, 'schema' | 'role'>;

/** Two sessions touched the same catalog row or created the same role; trying again settles it. */
const raced = new Set(['XX000', '23505', '42710', '40001', '40P01']);

async function retryRaces(work: () => Promise<unknown>, maxTries = 20): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !raced.has(error.code ?? '') || tries === maxTries) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 40));
    }
  }
}

const name = pg.escapeIdentifier;

/** Roles belong to the whole server, so two databases provisioned at once race here. */
async function ensureRole(client: pg.Client, { role, password }: Login): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [role]);
  const attributes = `LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS NOINHERIT PASSWORD ${pg.escapeLiteral(password)}`;
  await client.query(`${rowCount ? 'ALTER' : 'CREATE'} ROLE ${name(role)} ${attributes}`);
}

async function ensureSchema(client: pg.Client, { schema, role, migrator }: SchemaOwner): Promise<void> {
  await client.query(`CREATE SCHEMA IF NOT EXISTS ${name(schema)}`);
  await client.query(`REVOKE ALL ON SCHEMA ${name(schema)} FROM PUBLIC`);
  await client.query(`GRANT USAGE ON SCHEMA ${name(schema)} TO ${name(role)}`);
  if (migrator) await client.query(`GRANT USAGE, CREATE ON SCHEMA ${name(schema)} TO ${name(migrator.role)}`);
  await grantFutureRows(client, { schema, role });
}

/** Hands each object that the role of `client` makes in the schema from now on to the service's role. */
async function grantFutureRows(client: pg.Client, { schema, role }: SchemaUser): Promise<void> {
  const grants = [
    ['SELECT, INSERT, UPDATE, DELETE', 'TABLES'],
    ['USAGE, SELECT', 'SEQUENCES'],
    ['EXECUTE', 'FUNCTIONS'],
  ] as const;
  for (const [rights, kind] of grants)
    await client.query(
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${name(schema)} GRANT ${rights} ON ${kind} TO ${name(role)}`,
    );
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'provision' });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Gives every owner a schema and a LOGIN role that may read and write rows there and nothing else: no DDL, no other
 * schema, no temporary tables, no other database. Migrations run as the role of `adminUrl`, which owns all tables, or as the
 * schema's `migrator`; default privileges hand each new table to the owner's role. Run before migrating; twice is harmless.
 * @param adminUrl the database, as a role that may create roles and owns the database
 */
export async function provisionOwners(adminUrl: string, owners: readonly SchemaOwner[]): Promise<void> {
  await withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ database: string }>('SELECT current_database() AS database');
    const database = name(rows[0]?.database ?? '');
    const logins = owners.flatMap((owner) => [owner, ...(owner.migrator ? [owner.migrator] : [])]);
    for (const login of logins) await retryRaces(() => ensureRole(client, login));
    await retryRaces(async () => {
      await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
      await client.query('REVOKE ALL ON SCHEMA public FROM PUBLIC');
      for (const { role } of logins) await client.query(`GRANT CONNECT ON DATABASE ${database} TO ${name(role)}`);
    });
    for (const owner of owners) await retryRaces(() => ensureSchema(client, owner));
  });
}

/** Lets no role but administrators into the databases that every server has. For a server of Longwave's own; twice is harmless. */
export const closeMaintenanceDatabases = (adminUrl: string): Promise<void> =>
  withClient(adminUrl, async (client) => {
    for (const other of ['postgres', 'template1'])
      await retryRaces(() => client.query(`REVOKE ALL ON DATABASE ${other} FROM PUBLIC`));
  });

/**
 * Hands each table that the role of `url` makes in the schema from now on to the service's role. Run before migrating as a role that
 * did not provision; twice is harmless.
 */
export const handOverNewTables = (url: string, user: SchemaUser): Promise<void> =>
  withClient(url, (client) => retryRaces(() => grantFutureRows(client, user)));

/**
 * Takes the migration history away from the runtime roles. Run after migrating; twice is harmless.
 * @param url as the role that ran the migrations
 */
export async function sealMigrationHistory(url: string, owners: readonly SchemaUser[]): Promise<void> {
  await withClient(url, async (client) => {
    for (const { schema, role } of owners) {
      const history = `${name(schema)}._prisma_migrations`;
      const { rows } = await client.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
        history,
      ]);
      if (rows[0]?.exists) await retryRaces(() => client.query(`REVOKE ALL ON ${history} FROM ${name(role)}`));
    }
  });
}
