import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { deployMigrations, ownApps, startTestDatabase, workspaceRoot } from '@longwave/fleet';
import { provisionOwners } from '@longwave/postgres';
import { migrationRoleOf, schemaOwners, serviceRoleOf, services } from '@longwave/services';

const owners: Readonly<Record<string, string>> = Object.fromEntries(schemaOwners(services));

/** Prisma folder relative to the repository, and schema, of one app. */
function ownerOf(app: string | undefined): { readonly prisma: string; readonly schema: string } {
  const schema = owners[app ?? ''];
  if (!app || !schema) throw new Error(`Name the app: --app ${Object.keys(owners).join(' | ')}`);
  return { prisma: `apps/${app}/prisma`, schema };
}

/** Runs tools/migrate.mjs; answers its exit code. */
function migrateTool(databaseUrl: string, schema: string, prisma: string, args: readonly string[]): number {
  const url = new URL(databaseUrl);
  url.searchParams.set('schema', schema);
  const result = spawnSync(process.execPath, ['tools/migrate.mjs', ...args, '--dir', prisma], {
    cwd: workspaceRoot,
    stdio: 'inherit',
    env: { ...process.env, DATABASE_URL: url.href },
  });
  return result.status ?? 1;
}

function administratorUrl(): string {
  const url = process.env['DATABASE_URL'];
  if (!url) throw new Error('Set DATABASE_URL to the database, as a role that may create schemas and roles.');
  return url;
}

function passwordOf(role: string, variable: string): string {
  const password = process.env[variable];
  if (!password) throw new Error(`Set ${variable} to the password of the role ${role}.`);
  return password;
}

/** Passwords of the services' roles: `PRODUCT_PASSWORD`, `IDENTITY_PASSWORD`, … */
const rolePassword = (schema: string): string => passwordOf(serviceRoleOf(schema), `${schema.toUpperCase()}_PASSWORD`);

/** An owner with a role for its migrations, whose password is `PRODUCT_MIGRATION_PASSWORD`, … */
function ownerWithMigrator(schema: string) {
  const role = migrationRoleOf(schema);
  const migrator = { role, password: passwordOf(role, `${schema.toUpperCase()}_MIGRATION_PASSWORD`) };
  return { schema, role: serviceRoleOf(schema), password: rolePassword(schema), migrator };
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { app: { type: 'string' } } });
  const [command, name] = positionals;
  switch (command) {
    case 'create': {
      const { prisma, schema } = ownerOf(values.app);
      await using database = await startTestDatabase({ schema });
      return migrateTool(database.adminUrl, schema, prisma, ['create', ...(name ? [name] : [])]);
    }
    case 'drift': {
      const { prisma, schema } = ownerOf(values.app);
      await using database = await startTestDatabase({ schema, migrations: prisma });
      return migrateTool(database.adminUrl, schema, prisma, ['drift']);
    }
    case 'deploy':
      await deployMigrations(administratorUrl(), rolePassword, ownApps);
      console.log(`every schema is up to date: ${Object.values(owners).join(', ')}`);
      return 0;
    case 'provision':
      await provisionOwners(administratorUrl(), Object.values(owners).map(ownerWithMigrator));
      console.log(
        `every schema has a role for its service and one for its migrations: ${Object.values(owners).join(', ')}`,
      );
      return 0;
    case 'status': {
      const url = administratorUrl();
      const codes = Object.entries(owners).map(([app, schema]) => {
        const prisma = `apps/${app}/prisma`;
        if (!existsSync(path.join(workspaceRoot, prisma))) return 0;
        process.stdout.write(`${schema.padEnd(10)} `);
        return migrateTool(url, schema, prisma, ['status']);
      });
      return Math.max(...codes);
    }
    default:
      throw new Error('Name a command: create, deploy, provision, status or drift (see --help)');
  }
}

process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    return 1;
  }),
);
