import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { accounts, users } from '@longwave/command-catalog';
import { findAnywhere } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { cookieAttributes, cookieName, cookieOf, sessionCookie } from '@longwave/principal';
import { isUsable } from '../credentials/judge-credential.ts';
import { principalOf } from '../credentials/principal-of.ts';
import { revokeCredential } from '../credentials/revoke-credential.ts';
import { findCredential } from '../identity-table.ts';
import type { SendCommand } from '../send-command.ts';
import { sessionMs, type Session, type SignInProof } from './session.ts';
import { findSignIn, insertSessionUse, touchSession } from './session-table.ts';
import { secretDigest } from '../secret-digest.ts';

/** Whose session begins, and from when its life counts. */
interface NewSession {
  readonly userId: string;
  readonly account: Pick<Session['account'], 'id' | 'workspaceId'>;
  readonly passwordGivenAt: Date;
  readonly proof: SignInProof;
  /** The browser, as the person recognises it. */
  readonly name: string;
}

/** A session and the workspace of its account. */
interface SessionPlace {
  readonly credentialId: string;
  readonly account: Pick<Session['account'], 'workspaceId'>;
}

export interface Sessions {
  /** The text of the session cookie; it may be of no session. */
  readonly textOf: (request: Pick<IncomingMessage, 'headers'>) => string | undefined;
  readonly find: (request: Pick<IncomingMessage, 'headers'>) => Promise<Session | undefined>;
  /** Begins a session with a new value; answers its `Set-Cookie`. */
  readonly open: (session: NewSession) => Promise<string>;
  /** Ends a session at once; answers the `Set-Cookie` that forgets it. */
  readonly end: (session: SessionPlace) => Promise<string>;
}

/**
 * Sessions are credentials: what ends a credential ends the session at its next request, everywhere. So does a new password, and a second
 * factor that the session was begun without.
 */
export function createSessions({
  pool,
  send,
  baseUrl,
  clock,
}: {
  readonly pool: Pool;
  readonly send: SendCommand;
  readonly baseUrl: string;
  readonly clock: () => Date;
}): Sessions {
  const name = cookieName(sessionCookie, baseUrl);
  const attributes = cookieAttributes(baseUrl);
  const textOf: Sessions['textOf'] = ({ headers }) => cookieOf(headers.cookie, name);

  return {
    textOf,

    find: async (request) => {
      const text = textOf(request);
      const credential = text && (await findCredential(pool, secretDigest(text)));
      const now = clock();
      if (!credential || credential.kind !== 'browser_session' || !isUsable(credential, now)) return undefined;
      const { id: credentialId, userId, expires_at: expiresAt } = credential;
      if (userId === undefined || expiresAt === undefined) return undefined;
      const [user, account, signIn] = await Promise.all([
        findAnywhere(pool, users.type, userId),
        findAnywhere(pool, accounts.type, credential.account.id),
        findSignIn(pool, credentialId),
        touchSession(pool, credentialId, now),
      ]);
      if (!user || !account || !signIn) return undefined;
      const principal = principalOf(credential, credential.kind, []);
      return {
        credentialId,
        signedInAt: signIn.at,
        proof: signIn.proof,
        expiresAt: new Date(expiresAt),
        user: { id: user.id, workspaceId: user.workspace_id, ...user.attributes },
        account: { id: account.id, workspaceId: account.workspace_id, ...account.attributes },
        roles: principal.roles,
        principal,
      };
    },

    open: async ({ userId, account, passwordGivenAt, proof, name: browser }) => {
      const now = clock();
      const text = `lw_ses_${randomBytes(32).toString('base64url')}`;
      const id = newId('crd');
      await insertSessionUse(pool, id, { passwordGivenAt, proof, now });
      await send('credential.issue', account.workspaceId, id, {
        account_id: account.id,
        user_id: userId,
        name: browser,
        kind: 'browser_session',
        expires_at: new Date(passwordGivenAt.getTime() + sessionMs).toISOString(),
        secret_digest: secretDigest(text),
      });
      return `${name}=${text}; ${attributes}`;
    },

    end: async ({ credentialId, account }) => {
      await revokeCredential(send, account.workspaceId, credentialId);
      return `${name}=; ${attributes}; Max-Age=0`;
    },
  };
}
