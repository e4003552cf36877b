import { runService } from '@longwave/service-kit';

await runService('internal-serving', { config: () => import('./config.ts'), app: () => import('./app.ts') });
