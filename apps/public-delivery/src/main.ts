import { runService } from '@longwave/service-kit';
import { createApp } from './app.ts';
import { readDeliveryConfig } from './config.ts';

await runService('public-delivery', readDeliveryConfig, createApp);
