import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { json, type ManagementRoute } from '../management-route.ts';
import { listWorkspaces, workspaceRow } from './workspaces.ts';

const meSchema = z.strictObject({
  account: z.strictObject({ id: z.string(), name: z.string() }),
  person: z.strictObject({
    id: z.string(),
    name: z.string(),
    email: z.string().describe('The address to sign in with.'),
    locale: z.string().optional().describe('BCP 47; absent while none was chosen.'),
    time_zone: z.string().optional().describe('IANA name; absent while none was chosen.'),
  }),
  own_workspace_id: z.string().describe('Of the account; it is not listed while it is not provisioned.'),
  workspaces: z.array(workspaceRow).describe('Those in which you see anything, oldest first, at most 200.'),
  next_cursor: z.string().optional().describe('`GET /workspaces` goes on with it; absent when these are all.'),
});

/** A session that outlived its person or the account, as while both are removed. */
const nobody = () => new Problem('token_invalid', 'Whom this session belongs to is not there any more. Sign in again.');

const read: ManagementRoute = {
  operation: 'me.read',
  method: 'GET',
  path: '/me',
  summary: 'Who is signed in, with the account and the workspaces.',
  note: 'It is for the pages of the web application: programs with a token have their workspaces from `GET /workspaces`.',
  scope: 'management:read',
  sessionOnly: true,
  answers: { 200: { description: 'The person of the session.', body: { name: 'Me', schema: meSchema } } },
  refusals: ['permission_denied'],
  answer: async ({ actor }, deps) => {
    const { account_id: accountId, workspace_id: workspaceId, user_id: userId = '' } = actor.principal;
    const [{ accountName, person }, { rows: workspaces, ...rest }] = await Promise.all([
      deps.findPerson({ accountId, workspaceId, userId }, {}).catch((error: unknown) => {
        throw error instanceof Problem && error.code === 'not_found' ? nobody() : error;
      }),
      listWorkspaces(actor, deps),
    ]);
    if (!person) throw nobody();
    const { name, email, locale, timeZone } = person;
    const chosen = { ...(locale !== undefined && { locale }), ...(timeZone !== undefined && { time_zone: timeZone }) };
    return json({
      account: { id: accountId, name: accountName },
      person: { id: userId, name, email, ...chosen },
      own_workspace_id: workspaceId,
      workspaces,
      ...rest,
    });
  },
};

/** What pages of the web application begin with. */
export const meRoutes: readonly ManagementRoute[] = [read];
