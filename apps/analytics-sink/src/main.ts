import { runService } from '@longwave/service-kit';
import { createApp } from './app.ts';
import { readConfiguration } from './config.ts';

await runService('analytics-sink', readConfiguration, createApp);
