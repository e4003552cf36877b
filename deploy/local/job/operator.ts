import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@longwave/ids';
import { openChannel, readTls, type ServiceName } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { CommandServiceService } from '@longwave/rpc/command';
import { ResourceServiceService } from '@longwave/rpc/resource';
import { ServingServiceService } from '@longwave/rpc/serving';
import type { ResourceView } from '@longwave/events';
import type { FleetAccess } from '@longwave/fleet';
import { until } from './until.ts';

/** The operator's side: commands and queries over the private network, with the operator's certificate. */
export function openOperator(fleet: Pick<FleetAccess, 'operator' | 'addresses'>) {
  const tls = readTls(fleet.operator);
  const channels = new Map<ServiceName, ReturnType<typeof openChannel>>();
  const channel = (service: ServiceName, address: string) => {
    const open = channels.get(service) ?? openChannel(address, service, tls);
    channels.set(service, open);
    return open;
  };
  const identity = channel('auth-server', fleet.addresses['auth-server']).client(CommandServiceService);
  const product = channel('management', fleet.addresses.management).client(CommandServiceService);
  const resources = channel('management', fleet.addresses.management).client(ResourceServiceService);
  const audience = channel('analytics-sink', fleet.addresses['analytics-sink']).client(AudienceServiceService);
  const serving = channel('internal-serving', fleet.addresses['internal-serving']).client(ServingServiceService);

  const send =
    (client: typeof product) =>
    async (
      workspaceId: string,
      commandType: string,
      subject: { type: string; id?: string; version?: number },
      changes: unknown,
    ): Promise<ResourceView> => {
      const answer = await client.execute(
        {
          workspaceId,
          commandType,
          idempotencyKey: newId('req'),
          ifMatch: '',
          subjectType: subject.type,
          subjectId: subject.id ?? '',
          subjectVersion: subject.version,
          changesJson: JSON.stringify(changes),
          reasonJson: '',
        },
        { deadlineMs: 20_000 },
      );
      return JSON.parse(answer.resourceJson) as ResourceView;
    };

  return {
    identityCommand: send(identity),
    command: send(product),
    async read(workspaceId: string, type: string, id: string): Promise<ResourceView> {
      const { resourceJson } = await resources.getResource(
        { workspaceId, resourceType: type, resourceId: id },
        { deadlineMs: 5_000 },
      );
      return JSON.parse(resourceJson) as ResourceView;
    },
    /** The serving plan that decisions use now; asked without claiming any goal (no creative has this format). */
    async planInForce(workspaceId: string): Promise<string> {
      const answer = await serving.decide(
        {
          decisionId: newId('dec'),
          workspaceId,
          podcastId: newId('pod'),
          episodeId: newId('ep'),
          listenerBucket: Buffer.alloc(0),
          breaks: [],
          streamFormat: 'none',
          country: '',
          atMs: BigInt(Date.now()),
        },
        { deadlineMs: 2_000 },
      );
      return answer.servingPlanId;
    },
    async adsDelivered(workspaceId: string, lineItemId: string): Promise<number> {
      const day = 24 * 3600_000;
      const { delivered } = await audience.countAds(
        {
          workspaceId,
          range: { fromMs: BigInt(Date.now() - day), toMs: BigInt(Date.now() + day) },
          scope: { $case: 'lineItemId', value: lineItemId },
        },
        { deadlineMs: 5_000 },
      );
      return Number(delivered);
    },
    close: () => channels.forEach((open) => open.close()),
  };
}

export type Operator = ReturnType<typeof openOperator>;

export interface Account {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly apiKey: string;
}

/** Creates an account with an API key; only the key's digest leaves this process. */
export async function createAccount(operator: Operator, plan = 'network'): Promise<Account> {
  const workspaceId = newId('ws');
  const account = await operator.identityCommand(
    workspaceId,
    'account.create',
    { type: 'accounts' },
    { name: 'Harbour Light Audio', plan },
  );
  const apiKey = `lw_key_${randomBytes(32).toString('base64url')}`;
  await operator.identityCommand(
    workspaceId,
    'credential.issue',
    { type: 'credentials' },
    {
      account_id: account.id,
      name: 'first key',
      kind: 'api_key',
      secret_digest: createHash('sha256').update(apiKey).digest('hex'),
    },
  );
  await until('the workspace', 15_000, () =>
    operator.read(workspaceId, 'workspaces', workspaceId).catch(() => undefined),
  );
  return { accountId: account.id, workspaceId, apiKey };
}
