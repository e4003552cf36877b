import { runService } from '@longwave/service-kit';
import { createApp } from './app.ts';
import { readEncoderConfig } from './config.ts';

await runService('encoder', readEncoderConfig, createApp);
