import { execFile } from 'node:child_process';
import path from 'node:path';
import {
  appliedMigrations,
  assertNotContracted,
  provisionOwners,
  sealMigrationHistory,
  type SchemaOwner,
} from '@longwave/postgres';
import { schemaOwners, serviceRoleOf } from '@longwave/services';
import pMap from 'p-map';
import type { Apps } from './apps.ts';
import { listMigrations } from './list-migrations.ts';
import { workspaceRoot } from './workspace-root.ts';

/** How many of the migrations in a folder the schema has not, as they are there and finished. A newer release may have added others. */
async function countMissing(adminUrl: string, schema: string, prismaFolder: string): Promise<number> {
  const applied = await appliedMigrations(adminUrl, schema);
  const isApplied = (own: { readonly name: string; readonly checksum: string }) =>
    applied.some(({ name, checksum }) => name === own.name && checksum === own.checksum);
  return listMigrations(prismaFolder).filter((own) => !isApplied(own)).length;
}

/** How many migrations of these apps the database has not. */
export async function countMissingMigrations(adminUrl: string, apps: Apps<string>): Promise<number> {
  const counts = schemaOwners(apps.services).map(([app, schema]) =>
    countMissing(adminUrl, schema, path.join(apps.appFolder(app), 'prisma')),
  );
  return (await Promise.all(counts)).reduce((sum, one) => sum + one, 0);
}

/**
 * Applies what is missing of an app's migrations to its schema, as the role of `adminUrl`. Several at once are safe:
 * Prisma's engine takes an advisory lock. Rejects with the engine's message; a failed migration leaves nothing behind.
 * @param prismaFolder absolute, with `schema.prisma` and `migrations/`
 */
export async function migrateSchema(adminUrl: string, schema: string, prismaFolder: string): Promise<void> {
  if ((await countMissing(adminUrl, schema, prismaFolder)) === 0) return;
  const url = new URL(adminUrl);
  url.searchParams.set('schema', schema);
  const script = path.join(workspaceRoot, 'tools/migrate.mjs');
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url.href };
  await new Promise<void>((resolve, reject) => {
    execFile(
      process.execPath,
      [script, 'deploy', '--dir', prismaFolder],
      { env, cwd: workspaceRoot },
      (error, out, err) =>
        error
          ? reject(new Error(`the migrations of schema ${schema} failed:\n${err || out || error.message}`))
          : resolve(),
    );
  });
}

/** Throws `ContractedSchema` where a newer release has taken away what these apps use. Changes nothing. */
export async function assertReleaseFits(adminUrl: string, apps: Apps<string>): Promise<void> {
  for (const [app, schema] of schemaOwners(apps.services)) {
    const own = listMigrations(path.join(apps.appFolder(app), 'prisma')).map(({ name }) => name);
    await assertNotContracted(adminUrl, schema, own);
  }
}

/**
 * Makes the database what the services expect: schemas, roles with their rights, every app's migrations. Twice is harmless.
 * Throws `ContractedSchema` before it changes anything.
 * @param adminUrl as a role that may create schemas and roles; it will own all tables
 * @returns the owners with their roles
 */
export async function deployMigrations(
  adminUrl: string,
  rolePassword: (schema: string) => string,
  apps: Apps<string>,
): Promise<readonly SchemaOwner[]> {
  const owners = schemaOwners(apps.services).map(([, schema]) => ({
    schema,
    role: serviceRoleOf(schema),
    password: rolePassword(schema),
  }));
  await assertReleaseFits(adminUrl, apps);
  await provisionOwners(adminUrl, owners);
  await pMap(
    schemaOwners(apps.services),
    async ([app, schema]) => {
      const prismaFolder = path.join(apps.appFolder(app), 'prisma');
      if (listMigrations(prismaFolder).length) await migrateSchema(adminUrl, schema, prismaFolder);
    },
    // The engine gives up when it gets its lock, of which there is one for all schemas, not within 10 s.
    { concurrency: 2 },
  );
  await sealMigrationHistory(adminUrl, owners);
  return owners;
}
