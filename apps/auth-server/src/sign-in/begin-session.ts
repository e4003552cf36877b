import { randomBytes } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import { cookieAttributes, cookieName, cookieOf } from '@longwave/principal';
import type { Request } from 'express';
import type { Visit } from '../http/page-route.ts';
import { insertDevice } from '../passwords/password-table.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import type { SignInProof } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { FinishSignUp } from '../sign-up/create-person.ts';
import { listAccountsOf, type ReachableAccount } from '../users/user-table.ts';
import { browserName } from './browser-name.ts';
import { returnToOf } from './local-path.ts';
import { secretDigest } from '../secret-digest.ts';

const deviceLifeSeconds = 400 * 86_400;

export interface BeginSessionDeps {
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly finishSignUp: FinishSignUp;
  readonly baseUrl: string;
}

/** SHA-256 of the cookie of a browser in which somebody has signed in. */
export const deviceDigestOf = (request: Request, baseUrl: string): string | undefined => {
  const text = cookieOf(request.headers.cookie, cookieName('lw_device', baseUrl));
  return text === undefined ? undefined : secretDigest(text);
};

/** Remembers the browser; answers the `Set-Cookie` by which it is known again. */
async function rememberDevice({ pool, baseUrl }: BeginSessionDeps, userId: string, now: Date): Promise<string> {
  const text = randomBytes(32).toString('base64url');
  await insertDevice(pool, secretDigest(text), userId, now);
  return `${cookieName('lw_device', baseUrl)}=${text}; ${cookieAttributes(baseUrl)}; Max-Age=${deviceLifeSeconds}`;
}

/** A session that has begun, or none because the person has no account. */
interface Begun {
  readonly setCookies: readonly string[];
  readonly accounts: readonly ReachableAccount[];
}

/**
 * Begins a session of a person who has given the password and, where one is needed, the code; the one before ends, so its value is worth
 * nothing afterwards. It acts in the account of that one, else in the first.
 */
export const createBeginSession =
  (deps: BeginSessionDeps) =>
  async (
    visit: Visit,
    userId: string,
    {
      isKnownDevice,
      proof,
      passwordGivenAt = visit.now,
    }: { readonly isKnownDevice: boolean; readonly proof: SignInProof; readonly passwordGivenAt?: Date },
  ): Promise<Begun> => {
    const { request, session, now } = visit;
    const found = await listAccountsOf(deps.pool, userId);
    const isNew = found.length === 0 && (await deps.finishSignUp(userId, returnToOf(visit)));
    const accounts = isNew ? await listAccountsOf(deps.pool, userId) : found;
    const account = accounts.find(({ id }) => id === session?.account.id) ?? accounts[0];
    if (!account) return { setCookies: [], accounts };
    const name = browserName(request.get('user-agent'));
    const cookie = await deps.sessions.open({ userId, account, passwordGivenAt, proof, name });
    if (session) await deps.sessions.end(session);
    const device = isKnownDevice ? [] : [await rememberDevice(deps, userId, now)];
    await recordSecurityEvent(deps.pool, userId, 'signed_in', now, { browser: name });
    return { setCookies: [cookie, ...device], accounts };
  };

export type BeginSession = ReturnType<typeof createBeginSession>;
