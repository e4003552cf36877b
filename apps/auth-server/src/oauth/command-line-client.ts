import type { ChangesOf } from '@longwave/command-catalog';
import type { ExecuteCommand } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { apiScopes } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { findClient } from './client-table.ts';

/** The command line `longwave`: a public client of every installation, with one callback, its port included. */
const commandLineClient: ChangesOf<'oauth_client.register'> = {
  client_id: 'longwave-cli',
  name: 'Longwave command line',
  kind: 'command_line',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: ['http://127.0.0.1:28417/callback'],
  resources: ['mcp', 'management'],
  scopes: [...apiScopes.mcp, ...apiScopes.management],
};

/** Registers the client of the command line where it is missing. Any number of processes may do it. */
export async function registerCommandLineClient(pool: Pool, execute: ExecuteCommand): Promise<void> {
  if (await findClient(pool, commandLineClient.client_id)) return;
  const request = {
    workspaceId: newId('ws'),
    commandType: 'oauth_client.register',
    idempotencyKey: newId('req'),
    subject: { type: 'oauth_clients', id: null },
    changes: commandLineClient,
  };
  await execute(request, { kind: 'service', name: 'auth-server' }).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'value_taken')) throw error;
  });
}
