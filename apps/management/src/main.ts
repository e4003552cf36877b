import { runService } from '@longwave/service-kit';
import { createApp } from './app.ts';
import { readManagementConfig } from './config.ts';

await runService('management', readManagementConfig, createApp);
