import type { ChangesInput } from '@longwave/command-catalog';
import { findResource, type CommandOutcome, type ExecuteCommand } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import type { Principal } from '@longwave/principal';
import { isProblem, Problem } from '@longwave/problems';

const type = 'workspaces';

/** The person who provisions the workspace of the own account, through a client. */
export interface WorkspaceFounder {
  readonly principal: Principal;
  readonly clientId: string;
}

/** What a new workspace is like: its account is the founder's. */
export type NewWorkspace = Required<Omit<ChangesInput<'workspace.provision'>, 'account_id'>>;

/**
 * Provisions the one workspace of an account, once. The same key of the same client is answered as the first time. Throws `workspace_exists`
 * with the workspace when the account has one.
 */
export function createProvisionWorkspace(pool: Pool, execute: ExecuteCommand) {
  return async (
    founder: WorkspaceFounder,
    idempotencyKey: string,
    workspace: NewWorkspace,
  ): Promise<CommandOutcome> => {
    const { account_id: accountId, workspace_id: workspaceId, user_id: userId = accountId } = founder.principal;
    try {
      return await execute(
        {
          ...{ workspaceId, commandType: 'workspace.provision', idempotencyKey },
          subject: { type, id: workspaceId },
          changes: { ...workspace, account_id: accountId },
        },
        { kind: 'service', name: 'management', onBehalfOf: { clientId: founder.clientId, personId: userId } },
      );
    } catch (error) {
      if (!isProblem(error, 'value_taken')) throw error;
      const existing = await findResource(pool, workspaceId, type, workspaceId);
      if (!existing) throw error;
      throw new Problem('workspace_exists', `The account has the workspace ${workspaceId} already.`, {
        subject: { type, id: workspaceId, version: existing.version },
      });
    }
  };
}

export type ProvisionWorkspace = ReturnType<typeof createProvisionWorkspace>;
