import { z } from 'zod';
import type { Sessions } from '../sessions/sessions.ts';
import { profileRoutes } from '../settings/profile-page.ts';
import { takeForm, type PageRoute } from './page-route.ts';

export interface PageRoutesDeps {
  readonly sessions: Sessions;
}

/** Every page of this service and every form on them. */
export const pageRoutes = ({ sessions }: PageRoutesDeps): readonly PageRoute[] => [
  takeForm('/sign-out', 'anyone', z.object({}), async ({ session }) => ({
    redirect: '/sign-in',
    ...(session && { setCookies: [await sessions.end(session)] }),
    headers: { 'Clear-Site-Data': '"cache", "storage"' },
  })),
  ...profileRoutes,
];
