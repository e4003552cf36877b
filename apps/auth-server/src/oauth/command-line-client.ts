import type { ChangesOf } from '@longwave/command-catalog';
import type { ExecuteCommand } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import { apiScopes, commandLineClient } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import { createSendCommand } from '../send-command.ts';
import { findClient } from './client-table.ts';

const registration: ChangesOf<'oauth_client.register'> = {
  client_id: commandLineClient.clientId,
  name: 'Longwave command line',
  kind: 'command_line',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  redirect_uris: [commandLineClient.redirectUri],
  resources: ['mcp', 'management'],
  scopes: [...apiScopes.mcp, ...apiScopes.management],
};

/** Registers the client of the command line where it is missing. Any number of processes may do it. */
async function register(pool: Pool, execute: ExecuteCommand): Promise<void> {
  if (await findClient(pool, registration.client_id)) return;
  const send = createSendCommand(execute);
  await send('oauth_client.register', newId('ws'), undefined, registration).catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'value_taken')) throw error;
  });
}

/** Sees to it that the client of the command line is there, also when the database is away at the start. */
export function keepCommandLineClient({
  pool,
  execute,
  logger,
}: {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly logger: Logger;
}): AsyncDisposable {
  let isRegistered = false;
  return pollLoop({
    run: async () => {
      if (!isRegistered) await register(pool, execute);
      isRegistered = true;
    },
    everyMs: 60_000,
    onError: (error) => logger.warn({ err: error }, 'oauth.command_line_client_missing'),
  });
}
