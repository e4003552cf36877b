import pg from 'pg';

/**
 * Whether a migration takes away what the release before uses, so that this release cannot come back after it. Its name says so, because
 * names are in the database, where a release finds migrations that it has no files of: `20270301120000_contract_drop_old_table`.
 */
export const isContraction = (migration: string): boolean => /^\d{14}_contract_/.test(migration);

/** Raised by a release that is older than a contraction of the database. */
export class ContractedSchema extends Error {
  constructor(schema: string, migration: string) {
    super(
      `Schema ${schema} has migration ${migration}, which took away what this release uses: there is no way back past it. ` +
        'Start the newer release again, or restore a backup from before that migration: npx longwave restore FOLDER --data NEW',
    );
    this.name = 'ContractedSchema';
  }
}

/** The migrations that a schema has, in their order; none where there is no history. */
export async function appliedMigrations(
  url: string,
  schema: string,
): Promise<readonly { readonly name: string; readonly checksum: string }[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const history = `${pg.escapeIdentifier(schema)}._prisma_migrations`;
    const { rows: found } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
      history,
    ]);
    if (!found[0]?.exists) return [];
    const { rows } = await client.query<{ name: string; checksum: string }>(
      `select migration_name as name, checksum from ${history} where finished_at is not null and rolled_back_at is null
        order by migration_name collate "C"`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

/**
 * Throws `ContractedSchema` where a schema has a contraction that this release does not know.
 * @param own names of the migrations of this release
 */
export async function assertNotContracted(url: string, schema: string, own: readonly string[]): Promise<void> {
  const beyond = (await appliedMigrations(url, schema)).find(({ name }) => isContraction(name) && !own.includes(name));
  if (beyond) throw new ContractedSchema(schema, beyond.name);
}
