import { insertNotice } from '@longwave/command-pipeline';
import { transaction, type Pool } from '@longwave/postgres';
import type { RpcClient } from '@longwave/rpc';
import type { AlertEvent, PacingServiceService } from '@longwave/rpc/serving';
import { pollLoop } from '@longwave/worker-kit';
import { insertDeliveries, listSubscriptions } from '../../workspace/webhooks/delivery-table.ts';
import { deliveriesTo } from '../../workspace/webhooks/record-deliveries.ts';
import { renderAlert, type ApiRoots } from '../../workspace/webhooks/webhook-message.ts';
import { findAlertProgress, moveAlertProgress } from './alert-progress-table.ts';
import { lineItemAlert } from './line-item-alert.ts';
import { startDiscrepancies } from './tell-discrepancies.ts';
import { startReservations } from './tell-reservations.ts';

interface Deps {
  readonly pool: Pool;
  readonly serving: Pick<RpcClient<typeof PacingServiceService>, 'readAlertEvents'>;
  readonly roots: ApiRoots;
  readonly clock: () => Date;
}

const answerMs = 10_000;
const everyMs = 30_000;

/** Tells of one event: a notice among the changes of the workspace, and a message for each endpoint that has chosen it, once. */
async function tell({ pool, roots, clock }: Deps, { position, eventId, alert: message }: AlertEvent): Promise<void> {
  const alert = lineItemAlert(message!);
  const { workspaceId } = message!;
  const at = new Date(alert.cleared_at ?? alert.raised_at);
  const webhook = renderAlert({ id: eventId, workspaceId, at }, alert, roots);
  const subscriptions = await listSubscriptions(pool, [workspaceId]);
  const chosen = subscriptions.filter(({ events }) => events.includes(webhook.type));
  await transaction(pool, async (tx) => {
    if (!(await moveAlertProgress(tx, position))) return;
    await insertDeliveries(tx, deliveriesTo(webhook, chosen), clock());
    const { resource_type: type, resource_id: id } = webhook.data as { resource_type: string; resource_id: string };
    const subject = { type, id };
    await insertNotice(tx, { workspaceId, subject, type: webhook.type, detail: { ...alert }, now: at });
  });
}

/** Tells of what was raised and cleared since the last time; answers whether there was something. Several processes may do so at once. */
export async function tellAlerts(deps: Deps): Promise<boolean> {
  const { events } = await deps.serving.readAlertEvents(
    { after: await findAlertProgress(deps.pool) },
    { deadlineMs: answerMs },
  );
  for (const event of events) await tell(deps, event);
  return events.length > 0;
}

/** Tells of alerts, and internal-serving of what management finds, until it is disposed. */
export function startAlerts(
  options: Deps &
    Parameters<typeof startDiscrepancies>[0] & {
      /** Called when deliveries may be due. */
      readonly onTold: () => void;
    },
): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  stack.use(startDiscrepancies(options));
  stack.use(startReservations(options));
  stack.use(startTelling(options));
  return stack;
}

const startTelling = (options: Parameters<typeof startAlerts>[0]): AsyncDisposable =>
  pollLoop({
    everyMs,
    run: async () => {
      const hasMore = await tellAlerts(options);
      if (hasMore) options.onTold();
      return hasMore;
    },
    onError: (error) => options.logger.warn({ err: error }, 'alerts.not_told'),
  });
