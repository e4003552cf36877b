import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  dataFolder,
  removeDataFolder,
  startFleet,
  type Fleet,
  type FleetAccess,
  type FleetOptions,
} from '@longwave/fleet';
import { samples } from '@longwave/local/samples';
import {
  type Account,
  checkFeed,
  createAccount,
  createRestClient,
  openOperator,
  type Operator,
  type RestClient,
  uploadFile,
} from '@longwave/test-kit/clients';
import { makeAudio, until } from '@longwave/test-kit';
import { newInstallation } from './_installation.ts';
import { profileOptions } from './_profile.ts';

/** A running installation with its operator. */
export interface Installation extends AsyncDisposable {
  readonly fleet: FleetAccess;
  readonly operator: Operator;
  /** A folder for this test's own files; removed at the end. */
  readonly folder: string;
}

/** An installation of one test file, which may stop and kill its parts. */
export interface TestFleet extends Installation {
  readonly fleet: Fleet;
}

/** A whole fleet of real processes, on fresh data, or on that of a folder, which stays. */
export async function startTestFleet(options: Partial<FleetOptions> = {}): Promise<TestFleet> {
  const data = options.dataFolder === undefined ? await newInstallation() : dataFolder(options.dataFolder);
  const folder = data.inside('test-files');
  mkdirSync(folder, { recursive: true });
  // All listeners of a test come from one address. A decision is waited for on a busy machine too: what these tests are about
  // is which ads are heard and counted, not how soon they are chosen.
  const delivery = {
    ...{ NEW_PLAYS_PER_ADDRESS_AND_MINUTE: '100000', DECIDE_DEADLINE_MS: '10000' },
    ...options.env?.['public-delivery'],
  };
  const env = { ...options.env, 'public-delivery': delivery };
  const fleet = await startFleet({
    ...{ dataFolder: data.root, ports: 'free', mode: 'fast' },
    ...profileOptions(),
    ...options,
    env,
  });
  const operator = openOperator(fleet);
  return {
    fleet,
    operator,
    folder,
    [Symbol.asyncDispose]: async () => {
      operator.close();
      await fleet.stop();
      if (options.dataFolder === undefined) removeDataFolder(data);
    },
  };
}

/** How long an audio file is, in seconds, by decoding its container. */
export function secondsOf(file: string): number {
  const found = spawnSync(
    'ffprobe',
    ['-v', 'error', '-count_packets', '-show_entries', 'format=duration', '-of', 'csv=p=0', file],
    {
      encoding: 'utf8',
    },
  );
  if (found.status !== 0) throw new Error(`ffprobe: ${found.stderr}`);
  return Number(found.stdout.trim());
}

export interface ProductionView {
  readonly id: string;
  readonly state: string;
  readonly files: readonly {
    readonly role: string;
    readonly sha256: string;
    readonly size: number;
    readonly url: string;
    readonly duration_ms?: number;
  }[];
  readonly audio_duration_ms?: number;
  readonly problem?: { readonly code: string; readonly detail: string };
}

export interface Podcaster {
  readonly account: Account;
  readonly rest: RestClient;
  readonly podcastId: string;
  readonly feedUrl: string;
  newEpisode(title: string): Promise<string>;
  /** Uploads a file and creates a production of a new episode. */
  newProduction(
    file: string,
    title?: string,
  ): Promise<{ readonly productionId: string; readonly episodeId: string; readonly fileUrl: string }>;
  /** Waits until the production is in one of the states. */
  state(productionId: string, ...states: string[]): Promise<ProductionView>;
}

/** An account with a published podcast, made through the API like any client's. */
export const createPodcaster = async (installation: Installation, plan?: string): Promise<Podcaster> =>
  publishPodcast(installation, await createAccount(installation.operator, plan));

/** A published podcast of an account. */
export async function publishPodcast<A extends Pick<Account, 'apiKey'>>({ fleet }: Installation, account: A) {
  const rest = createRestClient(fleet.urls.base, account.apiKey);
  const podcast = await rest.post<{ id: string; feed_url: string }>('/podcasts', {
    title: 'Harbour Light',
    language: 'en',
    description: 'd',
    author: 'a',
    categories: ['Arts'],
  });
  await rest.put(`/podcasts/${podcast.id}`, { artwork_url: (await uploadFile(rest, samples.artwork)).fileUrl });
  await rest.post(`/podcasts/${podcast.id}/publish`);
  const newEpisode = async (title: string) =>
    (await rest.post<{ id: string }>(`/podcasts/${podcast.id}/episodes`, { title })).id;
  return {
    account,
    rest,
    podcastId: podcast.id,
    feedUrl: podcast.feed_url,
    newEpisode,
    async newProduction(file: string, title = 'Episode') {
      const episodeId = await newEpisode(title);
      const { fileUrl } = await uploadFile(rest, file);
      const { id } = await rest.post<{ id: string }>('/productions', { episode_id: episodeId, file_url: fileUrl });
      return { productionId: id, episodeId, fileUrl };
    },
    state: (productionId: string, ...states: string[]) =>
      until(
        `production ${states.join(' or ')}`,
        async () => {
          const production = await rest.get<ProductionView>(`/productions/${productionId}`);
          return states.includes(production.state) ? production : undefined;
        },
        { timeoutMs: 120_000 },
      ),
  };
}

/** Publishes an episode with five seconds of sound in a podcast that has none; answers the address of its audio in the feed. */
export async function publishFirstEpisode({ folder }: Installation, podcaster: Podcaster): Promise<string> {
  const { productionId } = await podcaster.newProduction(makeAudio(path.join(folder, 'first.wav'), 5), 'First');
  await podcaster.rest.post(`/productions/${productionId}/start?publish_episode=true`);
  return (await until('the feed', () => checkFeed(podcaster.feedUrl), { timeoutMs: 120_000 })).enclosureUrl;
}

/** Downloads of a podcast over the last days, as the API says. */
export async function countedDownloads({ rest, podcastId }: Podcaster): Promise<number> {
  const { objects } = await rest.get<{ objects: readonly { downloads: number }[] }>(
    `/podcasts/${podcastId}/analytics?days_offset=2&granularity=day`,
  );
  return objects.reduce((sum, day) => sum + day.downloads, 0);
}
