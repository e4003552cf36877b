import type { IncomingMessage, ServerResponse } from 'node:http';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { diagnosticsPurposes } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { errors, type InteractionResults, type Provider } from 'oidc-provider';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute, type Visit } from '../http/page-route.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import { isFresh, type Session } from '../sessions/session.ts';
import { withReturn } from '../sign-in/local-path.ts';
import { listAccountsOf } from '../users/user-table.ts';
import { artifactHash } from './artifact-table.ts';
import { findClient } from './client-table.ts';
import { consentPage, type ConsentRequest } from './consent-page.ts';
import { insertGrant } from './grant-table.ts';
import { grantSeconds } from './lifetimes.ts';
import { parsePurposes } from './parse-purposes.ts';
import { interactionPath } from './paths.ts';
import { bootstrapScope, diagnosticsScope, type Resource } from './resources.ts';

export interface InteractionDeps {
  readonly provider: () => Provider;
  readonly pool: Pool;
  readonly resources: readonly Resource[];
}

const expired = () =>
  new Problem('not_found', 'This request for access has expired. Go back to the program and start it again.');

/** The waiting authorization that the interaction cookie of this browser names. */
async function detailsOf({ provider }: InteractionDeps, request: IncomingMessage, response: ServerResponse) {
  try {
    return await provider().interactionDetails(request, response);
  } catch (error) {
    throw error instanceof errors.SessionNotFound ? expired() : error;
  }
}

const paramsSchema = z.object({
  client_id: z.string(),
  redirect_uri: z.string(),
  resource: z.union([z.string(), z.tuple([z.string()]).transform(([only]) => only)]),
  scope: z.string(),
  purpose: z.string().default(''),
});

/** What a client asks for in the browser of this person. Throws `not_found` unless the path names that request. */
async function readRequest(
  deps: InteractionDeps,
  { request, response, session }: Visit<Session>,
): Promise<ConsentRequest> {
  const { uid, params } = await detailsOf(deps, request, response);
  if (request.params['uid'] !== uid) throw expired();
  const { client_id: clientId, redirect_uri, resource: identifier, scope, purpose } = paramsSchema.parse(params);
  const [client, accounts] = await Promise.all([
    findClient(deps.pool, clientId),
    listAccountsOf(deps.pool, session.user.id),
  ]);
  const resource = deps.resources.find((one) => one.identifier === identifier);
  if (!client?.isActive || !resource) throw expired();
  const asked = scope.split(' ');
  return {
    uid,
    client,
    resource,
    redirect: new URL(redirect_uri),
    // Only its owner opens the workspace of an account.
    accounts: asked.includes(bootstrapScope) ? accounts.filter(({ isOwner }) => isOwner) : accounts,
    scopes: client.scopes.filter((one) => asked.includes(one) && resource.scopes.includes(one)),
    hasOfflineAccess: asked.includes('offline_access'),
    purposes: parsePurposes(purpose) ?? [],
  };
}

/** Where a person goes who gave the password too long ago. */
function detour({ session, now, request }: Visit<Session>): PageAnswer {
  if (isFresh(session, now)) return undefined;
  return { redirect: withReturn('/sign-in/password', `${interactionPath}/${request.params['uid']}`) };
}

const listField = <T extends z.ZodType>(entry: T) =>
  z.union([entry.transform((one) => [one]), z.array(entry)]).default([]);

const consentForm = z.object({
  account: z.string(),
  scope: listField(z.string()),
  purpose: listField(z.enum(diagnosticsPurposes)),
});

type Consent = z.output<typeof consentForm>;

/** The scopes that a client asks for, without those that the person struck out. */
const givenScopes = ({ scopes }: ConsentRequest, { scope: chosen }: Consent) =>
  scopes.filter((scope) => chosen.includes(scope));

/** Whether the person allows traces of decisions and says nothing about their purpose. */
const lacksPurpose = (request: ConsentRequest, consent: Consent): boolean =>
  consent.purpose.length === 0 && givenScopes(request, consent).some((scope) => scope === diagnosticsScope);

/** Makes the grant of one authorization, once. Answers its id; undefined when the person left nothing of the request. */
async function giveGrant(
  { provider, pool }: InteractionDeps,
  request: ConsentRequest,
  consent: Consent,
  { session, now }: Visit<Session>,
): Promise<string | undefined> {
  const { uid, client, resource, redirect, accounts, scopes, hasOfflineAccess } = request;
  const { account: accountId } = consent;
  if (!accounts.some(({ id }) => id === accountId)) throw new Problem('not_found', 'There is no such account.');
  const given = givenScopes(request, consent);
  if (given.length === 0) return undefined;
  const refused = scopes.filter((scope) => !given.includes(scope));
  const id = newId('cgr');
  const { user } = session;
  const grant = new (provider().Grant)({ accountId: user.id, clientId: client.client_id });
  grant.jti = id;
  grant.addResourceScope(resource.identifier, given.join(' '));
  if (refused.length > 0) grant.rejectResourceScope(resource.identifier, refused.join(' '));
  if (hasOfflineAccess) grant.addOIDCScope('offline_access');
  // Saved first: who finds the row goes on with the grant at once.
  await grant.save();
  const expiresAt = new Date(now.getTime() + grantSeconds * 1000);
  const redirectHost = redirect.host;
  const purposes = given.some((scope) => scope === diagnosticsScope) ? [...new Set(consent.purpose)] : [];
  const row = {
    ...{ id, userId: user.id, accountId, clientId: client.client_id, resource: resource.identifier },
    ...{ redirectHost, scopes: given, purposes, createdAt: now, expiresAt, interactionHash: artifactHash(uid) },
  };
  const grantId = await insertGrant(pool, row);
  if (grantId !== id) {
    await grant.destroy();
    if (grantId === undefined) throw expired();
    return grantId;
  }
  const detail = {
    ...{ client: client.name, account_id: accountId, redirect_host: redirectHost },
    ...(purposes.length > 0 && { purposes: purposes.join(' ') }),
  };
  await recordSecurityEvent(pool, user.id, 'consent_given', now, detail);
  return grantId;
}

/** Pages on which a person chooses the account and says what a client may do. */
export function interactionRoutes(deps: InteractionDeps): readonly PageRoute[] {
  const path = `${interactionPath}/{uid}`;
  const finish = async ({ request, response }: Visit<Session>, result: InteractionResults): Promise<PageAnswer> => ({
    redirect: await deps.provider().interactionResult(request, response, result, { mergeWithLastSubmission: false }),
  });
  const deny = (visit: Visit<Session>) =>
    finish(visit, { error: 'access_denied', error_description: 'the person refused' });

  return [
    showPage(path, 'session', async (visit) => {
      const request = await readRequest(deps, visit);
      return detour(visit) ?? consentPage(request, visit);
    }),

    takeForm(`${path}/consent`, 'session', consentForm, async (visit, { data }) => {
      const request = await readRequest(deps, visit);
      if (!data) throw new Problem('malformed_request', 'The form cannot be read.');
      const onTheWay = detour(visit);
      if (onTheWay) return onTheWay;
      if (lacksPurpose(request, data))
        return consentPage(request, visit, 'Choose at least one purpose, or take the traces away.');
      const grantId = await giveGrant(deps, request, data, visit);
      if (grantId === undefined) return deny(visit);
      return finish(visit, { login: { accountId: visit.session.user.id, remember: false }, consent: { grantId } });
    }),

    takeForm(`${path}/abort`, 'session', z.object({}), async (visit) => {
      await readRequest(deps, visit);
      return deny(visit);
    }),
  ];
}
