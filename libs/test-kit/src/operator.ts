import { createHash, randomBytes } from 'node:crypto';
import { identityCatalog, typedResource, type Resource, type ResourceType } from '@longwave/command-catalog';
import { newId } from '@longwave/ids';
import { openChannel, readTls, type RpcClient } from '@longwave/rpc';
import { AudienceServiceService } from '@longwave/rpc/audience';
import { CommandServiceService } from '@longwave/rpc/command';
import { MachineTokenServiceService } from '@longwave/rpc/credential';
import { ResourceServiceService } from '@longwave/rpc/resource';
import { ExchangeServiceService } from '@longwave/rpc/exchange';
import { ForecastServiceService, type BacktestResponse } from '@longwave/rpc/forecast';
import { ServingServiceService } from '@longwave/rpc/serving';
import type { ResourceView } from '@longwave/events';
import type { FleetAccess } from '@longwave/fleet';
import type { ServiceName } from '@longwave/services';
import { until } from './until.ts';

/** The types of identity resources by the prefix of their IDs. */
const identityTypes = new Map<string | undefined, string>(
  Object.values(identityCatalog.resources).map(({ prefix, type }) => [prefix, type]),
);

export interface AdCounts {
  readonly decided: number;
  readonly delivered: number;
  readonly billable: number;
  /** Events that players reported, by kind. */
  readonly events: Readonly<Record<string, number>>;
}

/** All pages of a list. */
async function listAll(
  client: RpcClient<typeof ResourceServiceService>,
  wanted: { readonly workspaceId: string; readonly resourceType: string; readonly lifecycleStates: string[] },
): Promise<ResourceView[]> {
  const found: ResourceView[] = [];
  let cursor = '';
  do {
    const page = await client.listResources({ ...wanted, links: {}, limit: 200, cursor }, { deadlineMs: 5_000 });
    found.push(...page.resourcesJson.map((json) => JSON.parse(json) as ResourceView));
    cursor = page.nextCursor;
  } while (cursor !== '');
  return found;
}

/** Every detail of a play that a request for ads may leave open. */
export const playWithoutDetails = {
  region: '',
  surface: 'progressive',
  device: '',
  operatingSystem: '',
  app: '',
  language: '',
  explicit: false,
  contentCategories: [],
  publishedAtMs: 0n,
  loudnessCentilufs: 0,
  adLoadLimitMs: 0n,
  streamFormats: [],
  previousListenerBucket: Buffer.alloc(0),
};

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
  const identityResources = channel('auth-server', fleet.addresses['auth-server']).client(ResourceServiceService);
  const machineTokens = channel('auth-server', fleet.addresses['auth-server']).client(MachineTokenServiceService);
  const product = channel('management', fleet.addresses.management).client(CommandServiceService);
  const resources = channel('management', fleet.addresses.management).client(ResourceServiceService);
  const audience = channel('analytics-sink', fleet.addresses['analytics-sink']).client(AudienceServiceService);
  const nodes = fleet.addresses['internal-serving']
    .split(',')
    .map((address) => openChannel(address, 'internal-serving', tls).client(ServingServiceService));
  const exchange = channel('hosting-exchange', fleet.addresses['hosting-exchange']).client(ExchangeServiceService);

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

  const identityCommand = send(identity);
  /** An identity resource by its id, whatever workspace it is of. */
  const identityResource = async (id: string): Promise<ResourceView> => {
    const resourceType = identityTypes.get(id.split('_')[0]);
    if (!resourceType)
      throw new Error(
        `“${id}” is not a valid ID of a user, an account, a credential, a membership, a machine token or a client`,
      );
    const request = { workspaceId: '', resourceType, resourceId: id };
    const { resourceJson } = await identityResources.getResource(request, { deadlineMs: 5_000 });
    return JSON.parse(resourceJson) as ResourceView;
  };

  return {
    identityCommand,
    command: send(product),
    account: async (id: string) => typedResource(await identityResource(id), 'accounts'),
    /** Issues an access token of a machine client; its text is nowhere but in this answer. */
    async issueMachineToken(changes: {
      readonly producer: string;
      readonly workspaces: readonly string[];
      readonly scopes?: readonly string[];
      readonly expires_at: string;
    }): Promise<{ readonly record: ResourceView; readonly token: string }> {
      const { token, resourceJson } = await machineTokens.issue(
        {
          workspaceId: changes.workspaces[0] ?? '',
          idempotencyKey: newId('req'),
          changesJson: JSON.stringify(changes),
        },
        { deadlineMs: 20_000 },
      );
      return { record: JSON.parse(resourceJson) as ResourceView, token };
    },
    /** Sends a command to an identity resource, and answers what it became. */
    async changeIdentity(id: string, commandType: string, changes: object): Promise<unknown> {
      const { workspace_id: workspaceId, resource_type: type } = await identityResource(id);
      const changed = await identityCommand(workspaceId, commandType, { type, id }, changes);
      const { secret_digest: _digest, ...attributes } = changed.attributes;
      return { id, state: changed.lifecycle_state, ...attributes };
    },
    /** Identity resources of a type in a workspace, or, without one, everywhere; oldest first. */
    identityList: (workspaceId: string | undefined, resourceType: string) =>
      listAll(identityResources, { workspaceId: workspaceId ?? '', resourceType, lifecycleStates: [] }),
    /** Resources of a workspace in some states, oldest first. */
    productList: (workspaceId: string, resourceType: string, lifecycleStates: string[]) =>
      listAll(resources, { workspaceId, resourceType, lifecycleStates }),
    async read<T extends ResourceType>(workspaceId: string, type: T, id: string): Promise<Resource<T>> {
      const { resourceJson } = await resources.getResource(
        { workspaceId, resourceType: type, resourceId: id },
        { deadlineMs: 5_000 },
      );
      return typedResource(JSON.parse(resourceJson) as ResourceView, type);
    },
    /**
     * The serving plan that decisions use now; '' while processes use different ones. Asked without claiming any goal (no creative has
     * this format).
     */
    async activePlan(workspaceId: string): Promise<string> {
      const play = () => ({
        ...{ ...playWithoutDetails, decisionId: newId('dec'), workspaceId, podcastId: newId('pod') },
        ...{ episodeId: newId('ep'), listenerBucket: Buffer.alloc(0), breaks: [], streamFormat: 'none', country: '' },
        atMs: BigInt(Date.now()),
      });
      const answers = await Promise.all(nodes.map((node) => node.decide(play(), { deadlineMs: 2_000 })));
      const [plan, ...others] = new Set(answers.map(({ servingPlanId }) => servingPlanId));
      return others.length === 0 ? plan! : '';
    },
    /** The ads of a line item in the ledger, over the last day. */
    async adCounts(workspaceId: string, lineItemId: string): Promise<AdCounts> {
      const day = 24 * 3600_000;
      const { decided, delivered, billable, clientEvents } = await audience.countAds(
        {
          workspaceId,
          range: { fromMs: BigInt(Date.now() - day), toMs: BigInt(Date.now() + day) },
          scope: { $case: 'lineItemId', value: lineItemId },
        },
        { deadlineMs: 5_000 },
      );
      return {
        decided: Number(decided),
        delivered: Number(delivered),
        billable: Number(billable),
        events: Object.fromEntries(clientEvents.map(({ event, count }) => [event, Number(count)])),
      };
    },
    async adsDelivered(workspaceId: string, lineItemId: string): Promise<number> {
      return (await this.adCounts(workspaceId, lineItemId)).delivered;
    },
    /** How good forecasts of a workspace were; takes up to minutes. */
    backtest: (workspaceId: string, weeks: number): Promise<BacktestResponse> =>
      channel('forecaster', fleet.addresses.forecaster)
        .client(ForecastServiceService)
        .backtest({ workspaceId, weeks }, { deadlineMs: 600_000 }),
    /** Holds a stream of a hosting platform until `reopenStream`. */
    async holdStream(workspaceId: string, streamId: string, reason: string): Promise<void> {
      await exchange.holdStream({ workspaceId, streamId, reason }, { deadlineMs: 5_000 });
    },
    /** Opens a stream of a hosting platform that is held, at its head. */
    async reopenStream(workspaceId: string, streamId: string, reason: string): Promise<void> {
      await exchange.reopenStream({ workspaceId, streamId, reason }, { deadlineMs: 5_000 });
    },
    close: () => {
      channels.forEach((open) => open.close());
      nodes.forEach((node) => node.close());
    },
  };
}

export type Operator = ReturnType<typeof openOperator>;

/** Sends commands of one workspace: to a subject, or to make a new one of a type. */
export const commandsIn =
  (operator: Operator, workspaceId: string) =>
  (command: string, subject: ResourceView | string, changes: unknown = {}): Promise<ResourceView> =>
    operator.command(
      workspaceId,
      command,
      typeof subject === 'string'
        ? { type: subject }
        : { type: subject.resource_type, id: subject.id, version: subject.version },
      changes,
    );

export interface Account {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly apiKey: string;
}

/** Prefixes of the credentials' texts that the contract tells apart. */
const textPrefixes: Readonly<Record<string, string>> = {
  api_key: 'lw_key_',
  legacy_token: 'svc_pat_',
  mcp_personal_token: 'svc_mcp_',
};

/** Issues a credential of any kind; only its digest leaves this process. */
export async function issueCredential(
  operator: Operator,
  accountId: string,
  credential: { readonly kind: string; readonly name: string; readonly scope?: string; readonly expires_at?: string },
): Promise<{ readonly id: string; readonly text: string }> {
  const { workspace_id: workspaceId } = await operator.account(accountId);
  const text = (textPrefixes[credential.kind] ?? 'lw_') + randomBytes(32).toString('base64url');
  const { id } = await operator.identityCommand(
    workspaceId,
    'credential.issue',
    { type: 'credentials' },
    { account_id: accountId, ...credential, secret_digest: createHash('sha256').update(text).digest('hex') },
  );
  return { id, text };
}

/** Creates an account whose owner provisions the workspace. Its address gets a user, who is the owner. */
export const createAccountWithoutWorkspace = async (
  operator: Operator,
  plan = 'network',
  more: { readonly name: string; readonly email: string },
): Promise<Resource<'accounts'>> =>
  typedResource(
    await operator.identityCommand(
      newId('ws'),
      'account.create_without_workspace',
      { type: 'accounts' },
      { plan, ...more },
    ),
    'accounts',
  );

/** Creates an account with an API key, and waits for its workspace. */
export async function createAccount(
  operator: Operator,
  plan = 'network',
  more: { readonly name?: string; readonly email?: string; readonly subscription?: object } = {},
): Promise<Account> {
  const workspaceId = newId('ws');
  const account = await operator.identityCommand(
    workspaceId,
    'account.create',
    { type: 'accounts' },
    { name: 'Harbour Light Audio', plan, ...more },
  );
  const { text: apiKey } = await issueCredential(operator, account.id, { kind: 'api_key', name: 'first key' });
  await until('the workspace', () => operator.read(workspaceId, 'workspaces', workspaceId).catch(() => undefined), {
    timeoutMs: 15_000,
  });
  return { accountId: account.id, workspaceId, apiKey };
}
