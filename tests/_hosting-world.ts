import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { removeDataFolder, temporaryDataFolder } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import {
  createAccount,
  createRestClient,
  issueCredential,
  type RestClient,
  uploadFile,
} from '@longwave/test-kit/clients';
import { makeAudio, until } from '@longwave/test-kit';
import { many, writePlansWithoutLimits } from '@longwave/test-kit/plans-without-limits';
import { samples } from '@longwave/local/samples';
import { startTestFleet, type Installation, type ProductionView, type TestFleet } from './_fleet.ts';

/** Plans beside the usual ones: with ninety days, without analytics, with a second to encode, with 3 requests a minute. */
const writePlans = (file: string) =>
  writePlansWithoutLimits(file, ({ network }) => ({
    ninety_days: { ...network, ...many, history_days: 90 },
    silent: { ...network, ...many, includes_analytics: false },
    hurried: { ...network, ...many, encoding_ms_per_month: 1000 },
    three_a_minute: { ...network, requests_per_minute: 3, upload_urls_per_minute: 4, legacy_requests_per_minute: 2 },
  }));

/** A fleet with the plans of a hosting world. */
export async function startHostingFleet(env: Record<string, string> = {}): Promise<TestFleet> {
  const own = temporaryDataFolder();
  const fleet = await startTestFleet({
    // Browsers of tests say who they are: an address is sent few mails an hour.
    trustedProxies: '127.0.0.1/32',
    env: {
      'auth-server': { PLANS_FILE: writePlans(own.inside('plans.json')) },
      management: env,
      encoder: env,
      'hosting-exchange': env,
    },
  });
  return {
    ...fleet,
    [Symbol.asyncDispose]: async () => {
      await fleet[Symbol.asyncDispose]();
      removeDataFolder(own);
    },
  };
}

export interface WorldAccount {
  readonly accountId: string;
  readonly workspaceId: string;
  readonly email: string;
  readonly apiKey: string;
  readonly rest: RestClient;
}

/** An installation with many accounts, made by the operator's commands as `npm run longwave` makes them. */
export interface HostingWorld extends Installation {
  account(name: string, plan?: string, more?: object): Promise<WorldAccount>;
  /** Issues a credential and answers its text. */
  credential(
    account: WorldAccount,
    kind: string,
    more?: object,
  ): Promise<{ readonly text: string; readonly id: string }>;
  identity(
    account: WorldAccount,
    type: string,
    subject: { type: string; id?: string },
    changes: object,
  ): Promise<string>;
}

export function hostingWorldOf<I extends Installation>(installation: I): I & HostingWorld {
  const { fleet, operator } = installation;
  // No two accounts of an installation have one e-mail address.
  const domain = `${randomBytes(4).toString('hex')}.example.com`;
  return {
    ...installation,
    identity: async ({ workspaceId }, type, subject, changes) =>
      (await operator.identityCommand(workspaceId, type, subject, changes)).id,
    account: async (name, plan = 'unlimited', more = {}) => {
      const email = `${name}@${domain}`;
      const account = await createAccount(operator, plan, { name, email, ...more });
      return { ...account, email, rest: createRestClient(fleet.urls.base, account.apiKey) };
    },
    credential: (account, kind, more = {}) =>
      issueCredential(operator, account.accountId, { kind, name: kind, ...more }),
  };
}

/** A published podcast with artwork. */
export async function publishedPodcast(rest: RestClient, title: string, more: object = {}): Promise<string> {
  const { id } = await rest.post<{ id: string }>('/podcasts', {
    title,
    language: 'en',
    description: 'Stories from the harbour.',
    author: 'Harbour Light Audio',
    owner_name: 'Ada Quay',
    owner_email: 'ada@example.com',
    categories: ['Arts'],
    artwork_url: (await uploadFile(rest, samples.artwork)).fileUrl,
    ...more,
  });
  await rest.post(`/podcasts/${id}/publish`);
  return id;
}

/** An episode with an encoded production of so many seconds, published or not. */
export async function encodedEpisode(
  { folder }: Pick<Installation, 'folder'>,
  rest: RestClient,
  podcastId: string,
  options: { readonly title: string; readonly publish: boolean; readonly seconds?: number },
): Promise<{ readonly episodeId: string; readonly productionId: string }> {
  const { title, publish, seconds = 10 } = options;
  const file = makeAudio(path.join(folder, `${newId('req')}.mp3`), seconds);
  const { id: episodeId } = await rest.post<{ id: string }>(`/podcasts/${podcastId}/episodes`, { title });
  const { fileUrl } = await uploadFile(rest, file);
  const { id: productionId } = await rest.post<{ id: string }>('/productions', {
    episode_id: episodeId,
    file_url: fileUrl,
    state: 'encoding',
    publication_flag: publish,
  });
  await until(`production of ${title}`, async () => {
    const { state, problem } = await rest.get<ProductionView>(`/productions/${productionId}`);
    if (state === 'error') throw new Error(problem?.detail);
    return state === 'encoded' || undefined;
  });
  await until(`${title} with its audio`, async () => {
    const { state, current_production_id: current } = await rest.get<{
      state: string;
      current_production_id?: string;
    }>(`/episodes/${episodeId}`);
    return (current === productionId && (state === 'published') === publish) || undefined;
  });
  return { episodeId, productionId };
}
