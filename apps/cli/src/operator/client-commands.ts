import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { newId } from '@longwave/ids';
import { apiScopes, type ProtectedApi } from '@longwave/principal';
import { needed, UsageError, type CommandOption, type OperatorCommand, type Options } from '../command.ts';
import { assertGrantee, clientIdOf, type NamedAuthority } from './authority-grantee.ts';

/** By kind: the API of a client, and how it proves who it is, unless the options say something else. There are two APIs for machines. */
const kinds: Readonly<Record<string, { readonly api?: ProtectedApi; readonly auth: string }>> = {
  connector: { api: 'mcp', auth: 'none' },
  partner: { api: 'rest', auth: 'secret' },
  management: { api: 'management', auth: 'none' },
  machine: { auth: 'secret' },
};
const methods: Readonly<Record<string, string>> = {
  none: 'none',
  secret: 'client_secret_basic',
  key: 'private_key_jwt',
};

const listOf = (text: string | undefined) => text?.split(',').filter((each) => each !== '');
const clientOption: CommandOption = {
  name: 'client',
  value: 'OCL',
  idPrefix: 'ocl',
  meaning: 'ID of the client (ocl_…), as “client list” shows it',
};
const redirectOption: CommandOption = {
  name: 'redirect',
  value: 'URI[,URI…]',
  meaning: 'addresses to which answers go, compared character by character; a machine has none',
  optional: true,
};
const apiOption: CommandOption = {
  name: 'api',
  value: 'API[,API…]',
  meaning: `APIs that it may use: ${Object.keys(apiScopes).join(', ')}`,
  optional: true,
};
const producerOption: CommandOption = {
  name: 'producer',
  value: 'NAME',
  meaning: 'name under which a machine of the audience API sends measurements',
  optional: true,
};
const scopesOption: CommandOption = {
  name: 'scopes',
  value: 'SCOPES',
  meaning: 'scopes that it may ask for, separated by commas (default: all of its APIs)',
  optional: true,
};
const workspaceOption: CommandOption = {
  name: 'workspace',
  value: 'WS[,WS…]',
  idPrefix: 'ws',
  meaning: 'workspaces that a machine of the audience API may report about; with --authority, the one of the grant',
  optional: true,
};
const authorityOption: CommandOption = {
  name: 'authority',
  value: 'AGR',
  idPrefix: 'agr',
  meaning: 'authority grant for which a machine of the exchange speaks; --workspace names its workspace',
  optional: true,
};

/** The APIs of `--api`; undefined without it. */
function apisOf(options: Options): readonly ProtectedApi[] | undefined {
  const isApi = (name: string): name is ProtectedApi => Object.hasOwn(apiScopes, name);
  return listOf(options['api'])?.map((name) => {
    if (!isApi(name))
      throw new UsageError(`--api: there is no API “${name}”. There are ${Object.keys(apiScopes).join(', ')}.`);
    return name;
  });
}

/** The scopes of `--scopes`, by default all of the APIs. */
function scopesOf(options: Options, apis: readonly string[]): readonly string[] {
  const allowed: readonly string[] = apis.flatMap((api) => apiScopes[api as ProtectedApi]);
  const scopes = listOf(options['scopes']) ?? allowed;
  const unknown = scopes.find((scope) => !allowed.includes(scope));
  if (unknown !== undefined)
    throw new UsageError(
      `--scopes: “${unknown}” is no scope of ${apis.join(', ')}. Choose from ${allowed.join(', ')}, separated by commas.`,
    );
  return scopes;
}

/** The workspace and the authority grant of `--authority`; undefined without it. */
function authorityOf(options: Options): NamedAuthority | undefined {
  const { authority } = options;
  if (authority === undefined) return undefined;
  const [workspace, ...more] = listOf(options['workspace']) ?? [];
  if (workspace === undefined || more.length > 0)
    throw new UsageError('--authority needs the one workspace of the grant: --workspace ws_….');
  return { workspace_id: workspace, authority_id: authority };
}

/** A new secret, shown once, with its digest. */
function newSecret(): { readonly text: string; readonly digest: string } {
  const text = `lw_secret_${randomBytes(32).toString('base64url')}`;
  return { text, digest: createHash('sha256').update(text).digest('hex') };
}

function methodOf(options: Options, kind: string): string {
  const auth = options['auth'] ?? kinds[kind]!.auth;
  const method = Object.hasOwn(methods, auth) ? methods[auth] : undefined;
  if (!method) throw new UsageError('--auth must be none, secret or key.');
  return method;
}

function jwksOf(options: Options): unknown {
  const file = needed(options, 'jwks');
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`--jwks: ${file} cannot be read as JSON: ${(error as Error).message}`);
  }
}

const shown = (id: string, state: string, { secret_digest: _digest, ...attributes }: Record<string, unknown>) => ({
  id,
  state,
  ...attributes,
});

const turn = (verb: 'disable' | 'enable', summary: string): OperatorCommand => ({
  name: `client ${verb}`,
  summary,
  options: [clientOption],
  example: `client ${verb} --client ocl_01jcq7v8z4n2m6k9s3x5t1r0wd`,
  run: (operator, options) => operator.changeIdentity(needed(options, 'client'), `oauth_client.${verb}`, {}),
});

/** Clients of the authorization server. A secret is shown once and stored nowhere. */
export const clientCommands: readonly OperatorCommand[] = [
  {
    name: 'client register',
    summary: 'Registers a program that may ask for access tokens. A secret is shown once.',
    options: [
      { name: 'kind', value: Object.keys(kinds).join('|'), meaning: 'what the program is' },
      {
        name: 'id',
        value: 'CLIENT_ID',
        meaning: 'its client_id; of a connector also the https address of its metadata document',
      },
      { name: 'name', value: 'NAME', meaning: 'name that people see when they are asked for consent' },
      redirectOption,
      {
        ...apiOption,
        meaning: `${apiOption.meaning} (default: that of its kind; a machine names exchange or audience)`,
      },
      scopesOption,
      {
        name: 'auth',
        value: 'none|secret|key',
        meaning: 'how it proves who it is (default: that of its kind)',
        optional: true,
      },
      { name: 'jwks', value: 'FILE', meaning: 'its public keys (JWKS, ES256), for --auth key', optional: true },
      producerOption,
      workspaceOption,
      authorityOption,
    ],
    example: 'client register --kind connector --id studio --name "Studio" --redirect https://studio.example/callback',
    run: async (operator, options) => {
      const kind = needed(options, 'kind');
      if (!Object.hasOwn(kinds, kind)) throw new UsageError(`--kind must be ${Object.keys(kinds).join(', ')}.`);
      const usual = kinds[kind]!.api;
      const apis = apisOf(options) ?? (usual && [usual]);
      if (!apis) throw new UsageError('--api is missing: a machine uses exchange or audience.');
      const method = methodOf(options, kind);
      const secret = method === 'client_secret_basic' ? newSecret() : undefined;
      const workspaces = listOf(options['workspace']);
      const authority = authorityOf(options);
      if (authority) await assertGrantee(operator, authority, needed(options, 'id'));
      const reportsAudience = !authority || apis.includes('audience');
      const { id, attributes } = await operator.identityCommand(
        workspaces?.[0] ?? newId('ws'),
        'oauth_client.register',
        { type: 'oauth_clients' },
        {
          client_id: needed(options, 'id'),
          name: needed(options, 'name'),
          kind,
          token_endpoint_auth_method: method,
          ...(secret && { secret_digest: secret.digest }),
          ...(method === 'private_key_jwt' && { jwks: jwksOf(options) }),
          grant_types: kind === 'machine' ? ['client_credentials'] : ['authorization_code', 'refresh_token'],
          redirect_uris: listOf(options['redirect']) ?? [],
          resources: apis,
          scopes: scopesOf(options, apis),
          ...(options['producer'] !== undefined && { producer: options['producer'] }),
          ...(workspaces && reportsAudience && { workspaces }),
          ...(authority && { authority }),
        },
      );
      return { ...shown(id, 'active', attributes), ...(secret && { client_secret: secret.text }) };
    },
  },
  {
    name: 'client list',
    summary: 'Lists the clients, without their secrets, oldest first.',
    options: [],
    example: 'client list',
    run: async (operator) => {
      const found = await operator.identityList(undefined, 'oauth_clients');
      return found.map(({ id, lifecycle_state: state, attributes }) => shown(id, state, attributes));
    },
  },
  {
    name: 'client revise',
    summary:
      'Changes a client. What is not named stays. Its kind and client_id stay too: for others, register a client with another client_id.',
    options: [
      clientOption,
      { name: 'name', value: 'NAME', meaning: 'name that people see', optional: true },
      redirectOption,
      { ...apiOption, meaning: `${apiOption.meaning}; without --scopes it may then ask for all of their scopes` },
      { ...scopesOption, meaning: 'scopes that it may ask for, separated by commas' },
      producerOption,
      workspaceOption,
      authorityOption,
    ],
    example: 'client revise --client ocl_01jcq7v8z4n2m6k9s3x5t1r0wd --scopes mcp:read,mcp:analytics.read',
    run: async (operator, options) => {
      const apis = apisOf(options);
      const isScoped = apis !== undefined || options['scopes'] !== undefined;
      const authority = authorityOf(options);
      if (authority) await assertGrantee(operator, authority, await clientIdOf(operator, needed(options, 'client')));
      const lists = { redirect_uris: 'redirect', ...(!authority && { workspaces: 'workspace' }) };
      const changed = Object.entries(lists).flatMap(([field, option]) => {
        const list = listOf(options[option]);
        return list ? [[field, list] as const] : [];
      });
      return operator.changeIdentity(needed(options, 'client'), 'oauth_client.revise', {
        ...(options['name'] && { name: options['name'] }),
        ...(apis && { resources: apis }),
        ...(isScoped && { scopes: scopesOf(options, apis ?? Object.keys(apiScopes)) }),
        ...(options['producer'] && { producer: options['producer'] }),
        ...(authority && { authority }),
        ...Object.fromEntries(changed),
      });
    },
  },
  {
    name: 'client rotate',
    summary: 'Gives a client a new secret, shown once; the old one ends at once.',
    options: [clientOption],
    example: 'client rotate --client ocl_01jcq7v8z4n2m6k9s3x5t1r0wd',
    run: async (operator, options) => {
      const { text, digest } = newSecret();
      const changes = { token_endpoint_auth_method: 'client_secret_basic', secret_digest: digest };
      await operator.changeIdentity(needed(options, 'client'), 'oauth_client.revise', changes);
      return { client_secret: text };
    },
  },
  turn('disable', 'Disables a client: it gets no tokens, and those that it has are refused at the next request.'),
  turn('enable', 'Lets a disabled client work again.'),
];
