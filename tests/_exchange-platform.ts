import {
  createExchangeClient,
  newMachineKey,
  proveMachineKey,
  publicHalf,
  type ExchangeClientOptions,
  type SigningKey,
} from '@longwave/exchange-client';
import { createAccount, grantExchangeAccess } from '@longwave/test-kit/clients';
import type { Installation } from './_fleet.ts';

type Access = Awaited<ReturnType<typeof grantExchangeAccess>>;

/** The options of a client by the settings of a connection. */
export const clientOptions = ({ settings }: Pick<Access, 'settings'>) => ({
  ...{ apiUrl: settings.api_url, tokenUrl: settings.token_url, clientId: settings.client_id },
  ...{ clientSecret: settings.client_secret, workspaceId: settings.workspace_id, authorityId: settings.authority_id },
});

/** A platform that speaks through libs/exchange-client, with an authority in a workspace of its own. */
export async function newPlatform(world: Pick<Installation, 'fleet' | 'operator'>) {
  const account = await createAccount(world.operator, 'network');
  const { workspaceId } = account;
  const access = await grantExchangeAccess(world, workspaceId);
  const { authorityId, settings } = access;
  return {
    ...{ account, workspaceId, authorityId, clientId: settings.client_id },
    newKey: async (): Promise<SigningKey> => {
      const privateJwk = await newMachineKey();
      const proof = await proveMachineKey(privateJwk, { workspaceId, authorityId });
      return { kid: await access.registerKey({ jwk: publicHalf(privateJwk), proof }), privateJwk };
    },
    connect: (
      more: Partial<
        Pick<ExchangeClientOptions, 'key' | 'signsRequests' | 'fetch' | 'retry' | 'onSigned' | 'workspaceId'>
      >,
    ) => createExchangeClient({ ...clientOptions(access), retry: { firstWaitMs: 10 }, ...more }),
  };
}
