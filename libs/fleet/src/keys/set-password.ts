import pg from 'pg';

/** Gives a role of PostgreSQL another password. Sessions that are open go on. */
export async function setPassword(adminUrl: string, role: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(`ALTER ROLE ${pg.escapeIdentifier(role)} PASSWORD ${pg.escapeLiteral(password)}`);
  } finally {
    await client.end();
  }
}
