import type { QueryClient } from '@tanstack/react-query';
import { createRouter } from '@tanstack/react-router';
import { ProblemPage } from './parts/problem.tsx';
import { Skeleton } from './parts/skeleton.tsx';
import { reloadOnce } from './reload-once.ts';
import { rootRoute } from './root-route.ts';
import { routeTree } from './routes.ts';
import { NotFoundPage } from './shell/not-found-page.tsx';
import { Shell } from './shell/shell.tsx';

rootRoute.update({ component: Shell, notFoundComponent: NotFoundPage });

/** The router of one tab. Pages are loaded, and their queries started, when a person points at their link. */
export const createAppRouter = (queries: QueryClient) =>
  createRouter({
    routeTree,
    context: { queries },
    defaultPreload: 'intent',
    // Queries know how old they are; the router keeps nothing.
    defaultPreloadStaleTime: 0,
    defaultPendingComponent: () => <Skeleton lines={6} />,
    defaultPendingMs: 150,
    defaultPendingMinMs: 0,
    defaultErrorComponent: ({ error, reset }) =>
      reloadOnce(error) ? null : <ProblemPage error={error} onRetry={reset} />,
    scrollRestoration: true,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
