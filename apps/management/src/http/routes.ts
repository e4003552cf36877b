import type { ManagementRoute } from './management-route.ts';
import { commandRoutes } from './routes/commands.ts';
import { operationRoutes } from './routes/operations.ts';
import { resourceRoutes } from './routes/resources.ts';

/** Every operation of the Management API. */
export const managementRoutes: readonly ManagementRoute[] = [...resourceRoutes, ...commandRoutes, ...operationRoutes];
