import type { ManagementRoute } from './management-route.ts';
import { alertRoutes } from './routes/alerts.ts';
import { billingStatementRoutes } from './routes/billing-statements.ts';
import { changeRoutes } from './routes/changes.ts';
import { commandRoutes } from './routes/commands.ts';
import { creativeAudioRoutes } from './routes/creative-audio.ts';
import { decisionRoutes } from './routes/decisions.ts';
import { meRoutes } from './routes/me.ts';
import { lineFunnelRoutes } from './routes/line-funnels.ts';
import { operationRoutes } from './routes/operations.ts';
import { provisioningRoutes } from './routes/provisioning.ts';
import { reconciliationItemRoutes } from './routes/reconciliation-items.ts';
import { reportResultRoutes } from './routes/report-results.ts';
import { receiptRoutes } from './routes/receipts.ts';
import { resourceRoutes } from './routes/resources.ts';
import { trackerRoutes } from './routes/trackers.ts';
import { uploadAddressRoutes } from './routes/upload-addresses.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { workspaceRoutes } from './routes/workspaces.ts';

/** Every operation of the Management API. */
export const managementRoutes: readonly ManagementRoute[] = [
  ...meRoutes,
  ...workspaceRoutes,
  ...uploadAddressRoutes,
  ...creativeAudioRoutes,
  ...provisioningRoutes,
  ...resourceRoutes,
  ...reportResultRoutes,
  ...billingStatementRoutes,
  ...reconciliationItemRoutes,
  ...lineFunnelRoutes,
  ...alertRoutes,
  ...commandRoutes,
  ...operationRoutes,
  ...changeRoutes,
  ...decisionRoutes,
  ...receiptRoutes,
  ...webhookRoutes,
  ...trackerRoutes,
];
