import type { ManagementRoute } from './management-route.ts';
import { changeRoutes } from './routes/changes.ts';
import { commandRoutes } from './routes/commands.ts';
import { decisionRoutes } from './routes/decisions.ts';
import { operationRoutes } from './routes/operations.ts';
import { resourceRoutes } from './routes/resources.ts';
import { workspaceRoutes } from './routes/workspaces.ts';

/** Every operation of the Management API. */
export const managementRoutes: readonly ManagementRoute[] = [
  ...workspaceRoutes,
  ...resourceRoutes,
  ...commandRoutes,
  ...operationRoutes,
  ...changeRoutes,
  ...decisionRoutes,
];
