#!/usr/bin/env node
/**
 * Prepares the engines of a new installation as their administrator, before anything else logs in: roles and schemas of the database, the
 * bucket of the object store and the rights of keys there. Twice is harmless. `npm run server-secrets` writes the file that says what.
 */
import { readFileSync } from 'node:fs';
import { prepareBucket } from '../libs/object-store/src/prepare-bucket.ts';
import { closeMaintenanceDatabases, provisionOwners } from '../libs/postgres/src/provision.ts';

const [file] = process.argv.slice(2);
if (!file) {
  console.error('usage: node tools/provision.mjs FILE.json');
  process.exit(2);
}
try {
  const { database, objectStore } = JSON.parse(readFileSync(file, 'utf8'));
  await closeMaintenanceDatabases(database.adminUrl);
  await provisionOwners(database.adminUrl, database.owners);
  await prepareBucket(objectStore.access, objectStore.policy);
  console.log(
    `prepared ${database.owners.map(({ schema }) => schema).join(', ')} and the bucket ${objectStore.access.bucket}`,
  );
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
