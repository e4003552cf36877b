import { runService } from '@longwave/service-kit';

await runService('rest-gateway', { config: () => import('./config.ts'), app: () => import('./app.ts') });
