import { runService } from '@longwave/service-kit';
import { createApp } from './app.ts';
import { readServingConfig } from './config.ts';

await runService('internal-serving', readServingConfig, createApp);
