import { runService } from '@longwave/service-kit';

await runService('management', { config: () => import('./config.ts'), app: () => import('./app.ts') });
