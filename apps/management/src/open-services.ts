import { openChannel, type tlsFromConfig } from '@longwave/rpc';
import {
  AdEventServiceService,
  AudienceServiceService,
  EvidenceServiceService,
  LedgerServiceService,
  ListenerServiceService,
} from '@longwave/rpc/audience';
import { AccountServiceService, CredentialServiceService } from '@longwave/rpc/credential';
import { BindingServiceService, EnclosureServiceService } from '@longwave/rpc/delivery';
import { ForecastServiceService } from '@longwave/rpc/forecast';
import { ProbeServiceService } from '@longwave/rpc/probe';
import { ReceiptServiceService } from '@longwave/rpc/receipt';
import { PacingServiceService, ServingServiceService } from '@longwave/rpc/serving';
import { createSumUnitCosts } from './advertising/campaigns/sum-unit-costs.ts';
import { createListAlerts } from './commerce/alerts/list-alerts.ts';
import type { Config } from './config.ts';

/** RPCs of the services that management asks. Their connections are opened when they are used, and closed with the stack. */
export function openServices(config: Config, tls: ReturnType<typeof tlsFromConfig>, stack: AsyncDisposableStack) {
  const closed = (channel: ReturnType<typeof openChannel>) => stack.adopt(channel, (one) => one.close());
  const encoder = closed(openChannel(config.ENCODER_ADDRESS, 'encoder', tls));
  const forecaster = closed(openChannel(config.FORECASTER_ADDRESS, 'forecaster', tls));
  const sink = closed(openChannel(config.ANALYTICS_SINK_ADDRESS, 'analytics-sink', tls));
  const authServer = closed(openChannel(config.AUTH_SERVER_ADDRESS, 'auth-server', tls));
  const internalServing = closed(openChannel(config.INTERNAL_SERVING_ADDRESS, 'internal-serving', tls));
  const delivery = closed(openChannel(config.PUBLIC_DELIVERY_ADDRESS, 'public-delivery', tls));
  const { checkAvailability, explainFit } = forecaster.client(ForecastServiceService);
  const { exportDays, findFirstDownloads, countAds, readReport } = sink.client(AudienceServiceService);
  const { listAdEvents } = sink.client(AdEventServiceService);
  const { listEvidenceRows } = sink.client(EvidenceServiceService);
  const { readPacing, readPacingHours, readFunnel, listAlerts, readAlertEvents, putFindings } =
    internalServing.client(PacingServiceService);
  const { findPlan, findPerson } = authServer.client(AccountServiceService);
  const { findPresentation } = delivery.client(EnclosureServiceService);
  return {
    probe: encoder.client(ProbeServiceService),
    ...{ checkAvailability, findPresentation, findPlan, findPerson, countAds, listAdEvents },
    alerts: { readAlertEvents, putFindings },
    listAlerts: createListAlerts({ listAlerts }),
    sumUnitCosts: createSumUnitCosts({ readPacing }),
    ledger: sink.client(LedgerServiceService),
    credentials: authServer.client(CredentialServiceService),
    receipts: authServer.client(ReceiptServiceService),
    /** Why a line item was given no more. */
    forFunnels: { readPacing, readPacingHours, readFunnel, readReport, explainFit },
    /** What jobs ask. */
    forJobs: { exportDays, findFirstDownloads, readReport, findPlan, listEvidenceRows },
    /** Services that keep something of listeners. */
    stores: {
      serving: internalServing.client(ServingServiceService),
      bindings: delivery.client(BindingServiceService),
      listeners: sink.client(ListenerServiceService),
    },
  };
}
