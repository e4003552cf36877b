import { runService } from '@longwave/service-kit';

await runService('hosting-exchange', { config: () => import('./config.ts'), app: () => import('./app.ts') });
