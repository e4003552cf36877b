import path from 'node:path';
import { services, type Manifest, type ServiceName } from '@longwave/services';
import { workspaceRoot } from './workspace-root.ts';

/** The services of a fleet, and the folder in which each has an app: `<name>/dist/main.js`, `<name>/prisma`. */
export interface Apps<S extends string> {
  readonly services: Manifest<S>;
  /** Absolute. */
  readonly folder: string;
}

/** The services of Longwave. */
export const ownApps: Apps<ServiceName> = { services, folder: path.join(workspaceRoot, 'apps') };
