import { runService } from '@longwave/service-kit';
import { createApp } from './app.ts';
import { readAuthServerConfig } from './config.ts';

await runService('auth-server', readAuthServerConfig, createApp);
