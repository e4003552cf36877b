import type { Pool } from '@longwave/postgres';
import { cookieAttributes, cookieName, cookieOf } from '@longwave/principal';
import type { PageAnswer, Visit } from '../http/page-route.ts';
import { html } from '../pages/html.ts';
import { findSecondFactor } from '../second-factor/second-factor-table.ts';
import {
  createWaitingSignIn,
  findWaitingSignIn,
  takeWaitingSignIn,
  waitSeconds,
  type WaitingSignIn,
} from '../second-factor/waiting-sign-in-table.ts';
import type { BeginSession } from './begin-session.ts';
import { withReturn } from './local-path.ts';

export interface EnterDeps {
  readonly pool: Pool;
  readonly beginSession: BeginSession;
  readonly baseUrl: string;
}

/** The two steps of signing in. No other way leads from a password to a session. */
export interface Enter {
  /** After the right password: begins the session, or lets the sign-in wait for the code. */
  readonly afterPassword: (
    visit: Visit,
    userId: string,
    options: { readonly isKnownDevice: boolean; readonly passwordSetAt: Date | null; readonly returnTo: string },
  ) => Promise<PageAnswer>;
  /** The sign-in of this browser that waits for its code. */
  readonly findWaiting: (visit: Visit) => Promise<WaitingSignIn | undefined>;
  /** After the right code: begins the session. */
  readonly afterCode: (visit: Visit, waiting: WaitingSignIn, returnTo: string) => Promise<PageAnswer>;
}

const noAccount: PageAnswer = {
  title: 'No account',
  status: 403,
  body: html`<h1>No account</h1>
    <p>Your account was closed, and no other account has you as a member.</p>`,
};

export function createEnter({ pool, beginSession, baseUrl }: EnterDeps): Enter {
  const cookie = cookieName('lw_wait', baseUrl);
  const attributes = cookieAttributes(baseUrl);
  const textOf = ({ request }: Visit) => cookieOf(request.headers.cookie, cookie);

  async function begin(
    visit: Visit,
    userId: string,
    options: Parameters<BeginSession>[2] & { readonly returnTo: string },
  ): Promise<PageAnswer> {
    const { setCookies, accounts } = await beginSession(visit, userId, options);
    if (accounts.length === 0) return noAccount;
    const { returnTo } = options;
    return { redirect: accounts.length > 1 ? withReturn('/sign-in/account', returnTo) : returnTo, setCookies };
  }

  return {
    afterPassword: async (visit, userId, options) => {
      const { isKnownDevice, passwordSetAt, returnTo } = options;
      const proof = { passwordSetAt, secondFactorSince: null };
      if (!(await findSecondFactor(pool, userId))) return begin(visit, userId, { isKnownDevice, proof, returnTo });
      const text = await createWaitingSignIn(pool, { userId, isKnownDevice, passwordSetAt, now: visit.now });
      return {
        redirect: withReturn('/sign-in/code', returnTo),
        setCookies: [`${cookie}=${text}; ${attributes}; Max-Age=${waitSeconds}`],
      };
    },

    findWaiting: async (visit) => {
      const text = textOf(visit);
      return text === undefined ? undefined : findWaitingSignIn(pool, text, visit.now);
    },

    afterCode: async (visit, { user, ...options }, returnTo) => {
      const text = textOf(visit);
      if (text === undefined || !(await takeWaitingSignIn(pool, text)))
        return { redirect: withReturn('/sign-in', returnTo) };
      const answer = await begin(visit, user.id, { ...options, returnTo });
      const setCookies = [...(answer?.setCookies ?? []), `${cookie}=; ${attributes}; Max-Age=0`];
      return answer && { ...answer, setCookies };
    },
  };
}
