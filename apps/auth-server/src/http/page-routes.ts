import { z } from 'zod';
import { settingsPathOf } from '../pages/layout.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { apiRoutes, type ApiPageDeps } from '../settings/api-page.ts';
import { membersRoutes, type MembersPageDeps } from '../settings/members-page.ts';
import { profileRoutes, type ProfilePageDeps } from '../settings/profile-page.ts';
import { secondFactorRoutes, type SecondFactorPageDeps } from '../settings/second-factor-page.ts';
import { securityRoutes, type SecurityPageDeps } from '../settings/security-page.ts';
import { accountChoiceRoutes, type AccountChoiceDeps } from '../sign-in/account-pages.ts';
import { codeRoutes, type CodePageDeps } from '../sign-in/code-page.ts';
import { resetRoutes, type ResetDeps } from '../sign-in/reset-pages.ts';
import { signInRoutes, type SignInDeps } from '../sign-in/sign-in-pages.ts';
import { signUpRoutes, type SignUpDeps } from '../sign-up/sign-up-pages.ts';
import { showPage, takeForm, type PageRoute } from './page-route.ts';

export type PageRoutesDeps = SignInDeps &
  CodePageDeps &
  ResetDeps &
  SignUpDeps &
  AccountChoiceDeps &
  ProfilePageDeps &
  ApiPageDeps &
  MembersPageDeps &
  SecurityPageDeps &
  SecondFactorPageDeps;

const signOut = (sessions: Sessions): PageRoute => ({
  ...takeForm('/sign-out', 'anyone', z.object({}), async ({ session }) => ({
    redirect: '/sign-in',
    ...(session && { setCookies: [await sessions.end(session)] }),
    headers: { 'Clear-Site-Data': '"cache", "storage"' },
  })),
  isOfConsole: true,
});

/** Routes that lead from the path of a form to its page: a browser opens the path when its address is loaded again. */
export const returnRoutes = (routes: readonly PageRoute[]): readonly PageRoute[] => {
  const shown = new Set(routes.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const forms = routes.filter(({ path }) => !shown.has(path));
  return forms.map(({ path }) =>
    showPage(path, 'anyone', ({ request }) => ({ redirect: settingsPathOf(request.path) })),
  );
};

/** Every page of this service and every form on them. */
export const pageRoutes = (deps: PageRoutesDeps): readonly PageRoute[] => [
  ...signInRoutes(deps),
  ...codeRoutes(deps),
  ...resetRoutes(deps),
  ...accountChoiceRoutes(deps),
  ...signUpRoutes(deps),
  signOut(deps.sessions),
  ...profileRoutes(deps),
  ...apiRoutes(deps),
  ...membersRoutes(deps),
  ...securityRoutes(deps),
  ...secondFactorRoutes(deps),
];
