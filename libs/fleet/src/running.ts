/** What a program needs to find a running fleet, without the means to start one: these take a second to load. */
export { dataFolder, defaultDataFolder } from './data-folder.ts';
export { findRunner, findRunningFleet, type FleetAccess } from './fleet-state.ts';
export { isPortFree } from './free-ports.ts';
export { lockFile } from './lock-file.ts';
export { listMigrations } from './list-migrations.ts';
export { trustAuthority } from './trust-authority.ts';
export { workspaceRoot } from './workspace-root.ts';
export { writePrivately } from './write-privately.ts';
