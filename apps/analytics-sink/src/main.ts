import { runService } from '@longwave/service-kit';

await runService('analytics-sink', { config: () => import('./config.ts'), app: () => import('./app.ts') });
