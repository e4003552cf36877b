import { runService } from '@longwave/service-kit';

await runService('public-delivery', { config: () => import('./config.ts'), app: () => import('./app.ts') });
