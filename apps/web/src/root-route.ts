import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext } from '@tanstack/react-router';

/** The places of the rail. A place stands there when its page exists. */
export const navigation = [
  { place: 'home', to: '/', name: 'nav.home' },
  { place: 'podcasts', to: '/podcasts', name: 'nav.podcasts' },
  { place: 'analytics', to: '/analytics', name: 'nav.analytics' },
] as const;

/** Places of advertising are those of a workspace: the rail chooses among them by the address (`shell/ad-places.tsx`). */
type Place = (typeof navigation)[number]['place'] | 'ads';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The place of the rail to which the page belongs. */
    readonly place?: Place;
  }
}

/** What loaders get. They start queries and wait for none: a page shows what there is. */
export interface RouteContext {
  readonly queries: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouteContext>()();
