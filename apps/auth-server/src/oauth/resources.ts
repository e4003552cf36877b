import { apiScopes, type ProtectedApi } from '@longwave/principal';

/** Roots of an installation, without a slash at the end. */
export interface PublicRoots {
  readonly base: string;
  readonly mcp: string;
  readonly api: string;
}

/** An API that accepts the tokens of this server. */
export interface Resource {
  readonly api: ProtectedApi;
  /** The resource identifier: the audience of its tokens, compared character by character (RFC 8707). */
  readonly identifier: string;
  readonly scopes: readonly string[];
  /** Scopes of a request that names none. */
  readonly defaultScopes: readonly string[];
  /** `jwt` is verified by its signature and `ClientService.CheckMachineToken`, `opaque` only by `CredentialService.Verify`. */
  readonly format: 'jwt' | 'opaque';
  readonly lifeSeconds: number;
}

/** The scope that provisions the workspace of an account. It is asked for, given and used alone. */
export const bootstrapScope = 'management:bootstrap';

/** The scope that reads traces of decisions, for purposes that the person chooses. */
export const diagnosticsScope = 'management:diagnostics';

/** The APIs of an installation with their tokens. */
export const resourcesOf = ({ base, mcp, api }: PublicRoots): readonly Resource[] => {
  const opaque = { format: 'opaque', lifeSeconds: 900 } as const;
  const jwt = { format: 'jwt', lifeSeconds: 600 } as const;
  return [
    {
      api: 'mcp',
      identifier: `${mcp}/mcp`,
      scopes: apiScopes.mcp,
      defaultScopes: ['mcp:read', 'mcp:analytics.read'],
      ...opaque,
    },
    {
      ...{ api: 'rest', identifier: `${base}/api/v1`, scopes: apiScopes.rest, defaultScopes: ['api:read'] },
      ...{ format: 'opaque', lifeSeconds: 3_600 },
    },
    {
      api: 'management',
      identifier: `${api}/management/v1`,
      scopes: apiScopes.management,
      defaultScopes: ['management:read'],
      ...opaque,
    },
    {
      api: 'exchange',
      identifier: `${api}/hosting-exchange/v1`,
      scopes: apiScopes.exchange,
      defaultScopes: ['exchange:read'],
      ...jwt,
    },
    {
      api: 'audience',
      identifier: `${api}/audience/v1`,
      scopes: apiScopes.audience,
      defaultScopes: ['audience:read'],
      ...jwt,
    },
  ];
};

/** Whether a scope lets a client change something. With `…:analytics.read` clients order exports. */
export const isWriteScope = (scope: string): boolean =>
  scope.endsWith(':analytics.read') || (!scope.endsWith('read') && scope !== diagnosticsScope);
