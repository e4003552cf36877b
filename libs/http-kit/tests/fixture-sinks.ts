import { runService } from '@longwave/service-kit';

await runService('fixture', {
  config: () => import('./fixture-sinks-config.ts'),
  app: () => import('./fixture-sinks-app.ts'),
});
