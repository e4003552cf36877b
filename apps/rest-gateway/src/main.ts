import { runService } from '@longwave/service-kit';
import { createApp } from './app.ts';
import { readRestGatewayConfig } from './config.ts';

await runService('rest-gateway', readRestGatewayConfig, createApp);
