import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from '@jest/globals';
import { findResource, listLinked, type ExecuteCommand } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { createGuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import { listImportItems } from '../src/hosting/imports/import-report-table.ts';
import { createImportHandler } from '../src/hosting/imports/import-feed.ts';
import { startJobRunner } from '../src/background/job-runner.ts';
import { preparedArtwork, startTestManagement } from './_management.ts';
import { createWorld, type World } from './_world.ts';

const namespaces =
  'xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:content="http://purl.org/rss/1.0/modules/content/" ' +
  'xmlns:podcast="https://podcastindex.org/namespace/1.0" xmlns:atom="http://www.w3.org/2005/Atom"';
export const feed = (channel: string, items: string, prolog = '<?xml version="1.0" encoding="UTF-8"?>') =>
  `${prolog}\n<rss version="2.0" ${namespaces}><channel>${channel}${items}</channel></rss>`;
export const simpleItem = (n: number, more = '') =>
  `<item><title>Episode ${n}</title><guid isPermaLink="false">guid-${n}</guid>` +
  `<pubDate>Mon, ${String((n % 28) + 1).padStart(2, '0')} Jun 2020 06:00:00 GMT</pubDate>` +
  `<enclosure url="https://cdn.example/${n}.mp3" type="audio/mpeg" length="100"/>${more}</item>`;

interface ServedPage {
  readonly body: string | Buffer;
  readonly type?: string;
  readonly status?: number;
  /** The connection breaks off instead of an answer. */
  readonly torn?: boolean;
  /** The answer waits for this. */
  readonly after?: Promise<unknown>;
}

/** Management and a host whose feeds it imports. */
export async function startImportHost() {
  /** The host's answers by path. */
  const pages = new Map<string, ServedPage>();
  const asked: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    asked.push(request.url!);
    const page = pages.get(request.url!);
    await page?.after;
    if (page?.torn) return void response.destroy();
    response.writeHead(page?.status ?? (page ? 200 : 404), { 'content-type': page?.type ?? 'application/rss+xml' });
    response.end(page?.body);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const management = await startTestManagement();
  const fetch = createGuardedFetch({ allowOrigins: [origin] });
  // A busy machine takes its time for 50 MB. How long a host may take is a case of `fetch-feed.test.ts`.
  management.fetch = (url, request) => fetch(url, { ...request, timeoutMs: 10 * request.timeoutMs });
  // The host of the audio files.
  management.publicFetch = async (_url, { range } = {}) => ({
    status: range ? 206 : 200,
    header: (name) => ({ 'content-type': 'audio/mpeg', 'accept-ranges': 'bytes' })[name],
    body: Buffer.from('ID3'),
  });

  const send = (world: World, path: string) =>
    world.send('podcast.import_feed', null, { feed_url: `${origin}${path}` });

  function runner(execute: ExecuteCommand = management.execute) {
    const errors: unknown[] = [];
    const started = startJobRunner({
      pool: management.pool,
      execute,
      handlers: { import_feed: createImportHandler({ ...management, execute }) },
      onError: (error) => errors.push(error),
      pollMs: 20,
      backOffMs: () => 1,
    });
    return Object.assign(started, { errors });
  }

  const podcastOf = async (view: ResourceView) =>
    (await findResource(management.pool, view.workspace_id, 'podcasts', view.id))!;
  const jobState = async (view: ResourceView) =>
    (await management.pool.query<{ state: string }>('select state from job where subject_id = $1', [view.id])).rows[0]!
      .state;
  const episodesOf = (view: ResourceView) =>
    listLinked(management.pool, view.workspace_id, 'episodes', 'podcast', view.id);
  const productionsOf = (episode: { readonly id: string; readonly workspace_id: string }) =>
    listLinked(management.pool, episode.workspace_id, 'productions', 'episode', episode.id);

  /** Imports to the end and returns the podcast and its episodes, oldest first. */
  async function imported(path: string, world = createWorld(management)) {
    const accepted = await send(world, path);
    await using running = runner();
    await until(async () => (await jobState(accepted)) === 'done');
    expect(running.errors).toEqual([]);
    const episodes = await episodesOf(accepted);
    return {
      accepted,
      podcast: (await podcastOf(accepted)).attributes,
      episodes: episodes.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    };
  }

  /** The report's lines in the order of the feed; the channel's first, if it has notes. */
  const reportOf = ({ id }: ResourceView) => listImportItems(management.pool, id, { after: 0, limit: 100 });

  async function refusal(path: string): Promise<Problem> {
    const error: unknown = await send(createWorld(management), path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Problem);
    return error as Problem;
  }

  return {
    management,
    origin,
    pages,
    asked,
    send,
    runner,
    podcastOf,
    jobState,
    episodesOf,
    productionsOf,
    imported,
    refusal,
    reportOf,
    /** Removes the pages of a test. */
    clear: () => {
      pages.clear();
      asked.length = 0;
      management.prepareArtwork = async () => preparedArtwork;
    },
    [Symbol.asyncDispose]: async () => {
      await management[Symbol.asyncDispose]();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

export type ImportHost = Awaited<ReturnType<typeof startImportHost>>;
