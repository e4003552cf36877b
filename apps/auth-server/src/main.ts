import { runService } from '@longwave/service-kit';

await runService('auth-server', { config: () => import('./config.ts'), app: () => import('./app.ts') });
