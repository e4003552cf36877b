import { executeEnvelope, type ExecuteCommand, type ResourceReader } from '@longwave/command-pipeline';
import { isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { tryVerifyPrincipal, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcHandlers, type RpcService } from '@longwave/rpc';
import { CommandServiceService, type ExecuteRequest, type ExecuteResponse } from '@longwave/rpc/command';
import {
  AccountServiceService,
  CredentialServiceService,
  MachineTokenServiceService,
  type IssueRequest,
  type IssueResponse,
} from '@longwave/rpc/credential';
import { ResourceServiceService } from '@longwave/rpc/resource';
import { gateways } from '@longwave/services';
import type { JWK } from 'jose';
import { listKeys, listMembers } from './accounts/account-list-table.ts';

function refuseNoWorkspace(workspaceId: string): void {
  if (!isId(workspaceId, 'ws'))
    throw new Problem(
      'validation_failed',
      'workspace_id: Write an ID of the form ws_…. A new account brings a new one.',
    );
}

const executeFor =
  (execute: ExecuteCommand) =>
  async (request: ExecuteRequest, { caller, deadline }: RpcContext): Promise<ExecuteResponse> => {
    refuseNoWorkspace(request.workspaceId);
    return executeEnvelope(execute, request, { kind: 'service', name: caller }, deadline);
  };

const listMax = 200;

/** Lists of the account that the call's statement names: no request can name another one. */
function accountService(pool: Pool, principalKeys: readonly JWK[], clock: () => Date): RpcService {
  async function ownerOf({ principalStatement }: RpcContext): Promise<Principal> {
    if (principalStatement === undefined) throw new Problem('token_missing');
    const principal = await tryVerifyPrincipal(principalStatement, principalKeys, clock());
    if (!principal) throw new Problem('token_invalid');
    return principal;
  }
  const partOf = ({ after, limit }: { readonly after: string; readonly limit: number }) => {
    if (limit < 1 || limit > listMax) throw new Problem('validation_failed', `limit: expected 1 to ${listMax}`);
    return { after, limit };
  };
  return rpcService(
    AccountServiceService,
    { listMembers: gateways, listKeys: gateways },
    {
      listMembers: async (request, context) => ({
        members: await listMembers(pool, await ownerOf(context), partOf(request)),
      }),
      listKeys: async (request, context) => ({ keys: await listKeys(pool, await ownerOf(context), partOf(request)) }),
    },
  );
}

/** Which service may call what: the gateway verifies credentials and shows an account its lists, the operator sends identity commands and reads what became of them. */
export const authServices = ({
  execute,
  reader,
  verify,
  issue,
  pool,
  principalKeys,
  clock,
}: {
  readonly execute: ExecuteCommand;
  readonly reader: ResourceReader;
  readonly verify: RpcHandlers<typeof CredentialServiceService>['verify'];
  readonly issue: (request: IssueRequest, deadline: Date) => Promise<IssueResponse>;
  readonly pool: Pool;
  /** Public keys of statements about principals. */
  readonly principalKeys: readonly JWK[];
  readonly clock: () => Date;
}): RpcService[] => [
  rpcService(CredentialServiceService, { verify: gateways }, { verify: verify }),
  accountService(pool, principalKeys, clock),
  rpcService(CommandServiceService, { execute: ['operator'] }, { execute: executeFor(execute) }),
  rpcService(
    MachineTokenServiceService,
    { issue: ['operator'] },
    {
      issue: async (request, { deadline }) => {
        refuseNoWorkspace(request.workspaceId);
        return issue(request, deadline);
      },
    },
  ),
  rpcService(
    ResourceServiceService,
    { getResource: ['operator'], listResources: ['operator'], listVersions: ['operator'] },
    {
      getResource: async ({ workspaceId, resourceType, resourceId }) => {
        const resource = await reader.getResource(workspaceId || undefined, resourceType, resourceId);
        return { resourceJson: JSON.stringify(resource), podcastId: '' };
      },
      listResources: async ({ workspaceId, resourceType, links, lifecycleStates, limit, cursor }) => {
        const { resources, nextCursor } = await reader.listResources({
          scopes: workspaceId === '' ? 'everywhere' : [{ workspaceId }],
          resourceType,
          links,
          lifecycleStates,
          ...(limit > 0 && { limit }),
          ...(cursor && { cursor }),
        });
        return { resourcesJson: resources.map((resource) => JSON.stringify(resource)), nextCursor: nextCursor ?? '' };
      },
      listVersions: async ({ workspaceId, resourceType, resourceId }) => ({
        versionsJson: (await reader.listVersions(workspaceId, resourceType, resourceId)).map((version) =>
          JSON.stringify(version),
        ),
      }),
    },
  ),
];
