import { runService } from '@longwave/service-kit';

await runService('encoder', { config: () => import('./config.ts'), app: () => import('./app.ts') });
