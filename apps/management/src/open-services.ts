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
import { ServingServiceService } from '@longwave/rpc/serving';
import type { Config } from './config.ts';

/** Clients of the services that management asks. Their connections are opened when they are used, and closed with the stack. */
export function openServices(config: Config, tls: ReturnType<typeof tlsFromConfig>, stack: AsyncDisposableStack) {
  const open = (address: string, name: Parameters<typeof openChannel>[1]) =>
    stack.adopt(openChannel(address, name, tls), (channel) => channel.close());
  const encoder = open(config.ENCODER_ADDRESS, 'encoder');
  const forecaster = open(config.FORECASTER_ADDRESS, 'forecaster');
  const sink = open(config.ANALYTICS_SINK_ADDRESS, 'analytics-sink');
  const authServer = open(config.AUTH_SERVER_ADDRESS, 'auth-server');
  const internalServing = open(config.INTERNAL_SERVING_ADDRESS, 'internal-serving');
  const delivery = open(config.PUBLIC_DELIVERY_ADDRESS, 'public-delivery');
  return {
    probe: encoder.client(ProbeServiceService),
    forecasts: forecaster.client(ForecastServiceService),
    audience: sink.client(AudienceServiceService),
    adEvents: sink.client(AdEventServiceService),
    evidence: sink.client(EvidenceServiceService),
    ledger: sink.client(LedgerServiceService),
    listeners: sink.client(ListenerServiceService),
    accounts: authServer.client(AccountServiceService),
    credentials: authServer.client(CredentialServiceService),
    receipts: authServer.client(ReceiptServiceService),
    serving: internalServing.client(ServingServiceService),
    bindings: delivery.client(BindingServiceService),
    enclosures: delivery.client(EnclosureServiceService),
  };
}
