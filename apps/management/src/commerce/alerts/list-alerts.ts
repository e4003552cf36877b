import type { LineItemAlert } from '@longwave/command-catalog';
import type { RpcClient } from '@longwave/rpc';
import type { PacingServiceService } from '@longwave/rpc/serving';
import { lineItemAlert } from './line-item-alert.ts';

/** Which alerts are listed; undefined for any. */
interface AlertSearch {
  readonly lineItemId: string | undefined;
  readonly podcastId: string | undefined;
  readonly state: string | undefined;
  readonly kind: string | undefined;
  readonly limit: number;
  /** The position of the last alert of the page before; 0 for the first page. */
  readonly before: bigint;
}

interface AlertPage {
  readonly alerts: readonly LineItemAlert[];
  /** Where the next page begins; undefined on the last one. */
  readonly next: bigint | undefined;
}

/** Alerts of a workspace, those that were raised last come first. Rejects with `temporarily_unavailable` when nobody answers. */
export type ListAlerts = (workspaceId: string, search: AlertSearch) => Promise<AlertPage>;

const answerMs = 5_000;

/** Asks internal-serving, which keeps the alerts. */
export const createListAlerts =
  (serving: Pick<RpcClient<typeof PacingServiceService>, 'listAlerts'>): ListAlerts =>
  async (workspaceId, { lineItemId = '', podcastId = '', state = '', kind = '', limit, before }) => {
    const found = await serving.listAlerts(
      { workspaceId, lineItemId, podcastId, state, kind, limit: limit + 1, before },
      { deadlineMs: answerMs },
    );
    const rows = found.alerts.slice(0, limit);
    return {
      alerts: rows.flatMap(({ alert }) => (alert ? [lineItemAlert(alert)] : [])),
      next: found.alerts.length > limit ? rows.at(-1)?.position : undefined,
    };
  };
