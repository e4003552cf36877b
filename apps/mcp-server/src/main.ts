import { runService } from '@longwave/service-kit';

await runService('mcp-server', { config: () => import('./config.ts'), app: () => import('./app.ts') });
