import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Name and SHA-256 (hex) of each migration in a Prisma folder, oldest first; none when there is no such folder. */
export function listMigrations(prismaFolder: string): readonly { readonly name: string; readonly checksum: string }[] {
  const folder = path.join(prismaFolder, 'migrations');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => {
      const script = readFileSync(path.join(folder, name, 'migration.sql'));
      return { name, checksum: createHash('sha256').update(script).digest('hex') };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
