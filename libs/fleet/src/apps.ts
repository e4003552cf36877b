import path from 'node:path';
import { services, type Manifest, type ServiceName } from '@longwave/services';
import { workspaceRoot } from './workspace-root.ts';

/** The services of a fleet, and where their programs are. Folders are absolute. */
export interface Apps<S extends string> {
  readonly services: Manifest<S>;
  /** Has `dist/main.js` and `prisma`. */
  readonly appFolder: (service: string) => string;
  /** The folder that the paths of `files` in the entry of a service begin at. */
  readonly filesFolder: (service: string) => string;
}

/** The services of Longwave, as they are built in this repository. */
export const ownApps: Apps<ServiceName> = {
  services,
  appFolder: (service) => path.join(workspaceRoot, 'apps', service),
  filesFolder: () => workspaceRoot,
};

/** The services of Longwave as `npm run package` made them in a folder: what containers would hold. */
export const packagedApps = (folder: string): Apps<ServiceName> => ({
  services,
  appFolder: (service) => path.join(folder, service, 'apps', service),
  filesFolder: (service) => path.join(folder, service),
});
