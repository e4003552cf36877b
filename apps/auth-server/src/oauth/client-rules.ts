import { oauthClients, productCatalog, type Attributes, type identityCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { apiScopes } from '@longwave/principal';
import { Problem, type FieldError } from '@longwave/problems';
import { findWorkspaces } from '../identity-table.ts';

type Client = Attributes<'oauth_clients'>;

/** Fields that a client has for the sake of one API. */
const fieldsOfApi = { audience: ['producer', 'workspaces'], exchange: ['authority'] } as const;

/** Whether an authority grant can name a client with this id as its grantee. */
const isGranteeId = (clientId: string): boolean =>
  productCatalog.resources.authority_grants.attributes.shape.grantee.safeParse({ client_id: clientId }).success;

/** What is wrong with a client as a whole; its fields alone are right. */
function* clientErrors(client: Client): Generator<FieldError> {
  const { kind, resources, redirect_uris: redirectUris, grant_types: grantTypes } = client;
  const method = client.token_endpoint_auth_method;
  const wrong = (field: keyof Client, detail: string) => ({ path: `/changes/${field}`, code: 'not_allowed', detail });
  const isMachine = kind === 'machine';
  if (isMachine !== grantTypes.includes('client_credentials') || (isMachine && grantTypes.length > 1))
    yield wrong('grant_types', 'A machine uses client_credentials, and nobody else does.');
  if (!isMachine && !grantTypes.includes('authorization_code'))
    yield wrong('grant_types', 'A client of people uses authorization_code.');
  if (isMachine !== (redirectUris.length === 0))
    yield wrong('redirect_uris', 'A client of people has redirect addresses, and a machine has none.');
  if (isMachine !== resources.every((api) => api === 'exchange' || api === 'audience'))
    yield wrong('resources', 'exchange and audience are for machines, and rest, mcp and management for people.');
  if (isMachine && method === 'none') yield wrong('token_endpoint_auth_method', 'A machine proves who it is.');
  if ((method === 'client_secret_basic') !== (client.secret_digest !== undefined))
    yield wrong('secret_digest', 'A digest belongs to the method client_secret_basic, and to no other.');
  if ((method === 'private_key_jwt') !== (client.jwks !== undefined))
    yield wrong('jwks', 'Public keys belong to the method private_key_jwt, and to no other.');
  const isDocument = client.client_id.includes('/');
  if (isDocument && (kind !== 'connector' || !/^https:\/\/[^/?#@\s]+\/\S+$/.test(client.client_id)))
    yield wrong(
      'client_id',
      'Only a connector has an address as its client_id, and that is an https address with a path.',
    );
  if (isDocument && method === 'client_secret_basic')
    yield wrong('token_endpoint_auth_method', 'A client that a document describes has no secret.');
  const offered = new Set<string>(resources.flatMap((api) => apiScopes[api]));
  const foreign = client.scopes.filter((scope) => !offered.has(scope));
  if (foreign.length > 0) yield wrong('scopes', `None of its resources has the scope ${foreign.join(', ')}.`);
  const isProducer = resources.includes('audience');
  if (isProducer !== (client.producer !== undefined))
    yield wrong('producer', 'A client of the audience API sends under the name of a producer, and no other does.');
  if (isProducer !== (client.workspaces !== undefined))
    yield wrong('workspaces', 'A client of the audience API names its workspaces, and no other does.');
  const isPlatform = resources.includes('exchange');
  if (isPlatform !== (client.authority !== undefined))
    yield wrong('authority', 'A client of the exchange names its workspace and authority grant, and no other does.');
  if (isPlatform && !isGranteeId(client.client_id))
    yield wrong(
      'client_id',
      'An authority grant cannot name this client_id: write 1 to 64 small letters, digits, dots, dashes or underscores, the first no mark.',
    );
}

function assertSound(client: Client): Client {
  const errors = [...clientErrors(client)];
  if (errors.length > 0)
    throw new Problem('validation_failed', errors.map(({ detail }) => detail).join(' '), { errors });
  return client;
}

async function assertKnownWorkspaces(tx: Transaction, { workspaces = [], authority }: Client): Promise<void> {
  const named = [
    ...workspaces.map((id) => ({ id, path: '/changes/workspaces' })),
    ...(authority ? [{ id: authority.workspace_id, path: '/changes/authority/workspace_id' }] : []),
  ];
  const known = await findWorkspaces(
    tx,
    named.map(({ id }) => id),
  );
  const unknown = named.find(({ id }) => !known.has(id));
  if (unknown === undefined) return;
  const detail = `There is no workspace ${unknown.id}.`;
  throw new Problem('validation_failed', detail, {
    errors: [{ path: unknown.path, code: 'unknown_workspace', detail }],
  });
}

/** Rules of the client commands. */
export const clientRules: Pick<Rules<typeof identityCatalog>, 'oauth_client.register' | 'oauth_client.revise'> = {
  'oauth_client.register': async ({ tx, changes }) => {
    const client = assertSound(changes);
    await assertKnownWorkspaces(tx, client);
    return { attributes: client };
  },

  'oauth_client.revise': async ({ tx, current, changes }) => {
    const next = { ...current, ...changes };
    // Another method leaves its proof behind.
    if (next.token_endpoint_auth_method !== 'client_secret_basic') delete next.secret_digest;
    if (next.token_endpoint_auth_method !== 'private_key_jwt') delete next.jwks;
    // So does an API with its fields.
    for (const [api, apiFields] of Object.entries(fieldsOfApi))
      if (!next.resources.some((one) => one === api))
        for (const field of apiFields) if (changes[field] === undefined) delete next[field];
    const client = assertSound(oauthClients.attributes.parse(next));
    await assertKnownWorkspaces(tx, client);
    return { attributes: client };
  },
};
