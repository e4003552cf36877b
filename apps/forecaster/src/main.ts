import { runService } from '@longwave/service-kit';

await runService('forecaster', { config: () => import('./config.ts'), app: () => import('./app.ts') });
