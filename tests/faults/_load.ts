import { setTimeout as pause } from 'node:timers/promises';
import { until } from '@longwave/test-kit';
import { download } from '@longwave/test-kit/clients';
import { Refused, type Attempt, type Delivered, type Kind } from './_attempts.ts';
import { createMediaClient } from './_media-client.ts';
import { openHlsPlay } from './_hls-play.ts';
import type { Show } from './_show.ts';

/** How long a program waits for the answer to a command before it sends it again under the same key. */
const patienceMs = 5_000;

/** An episode whose creation and revision were acknowledged. */
interface Acknowledged {
  readonly id: string;
  readonly title: string;
  readonly endedMs: number;
}

/** A production whose start was acknowledged. */
interface StartedProduction {
  readonly id: string;
  readonly endedMs: number;
}

/** Everything that clients saw. */
export interface Record {
  readonly attempts: readonly Attempt[];
  readonly delivered: readonly Delivered[];
  readonly episodes: readonly Acknowledged[];
  readonly productions: readonly StartedProduction[];
  /** Addresses of uploads that the object store has acknowledged. */
  readonly uploads: readonly string[];
  /** New listeners, and those of them who have a whole file. */
  readonly listeners: { readonly came: number; readonly whole: number };
}

export interface Load {
  readonly record: Record;
  /** Nobody new comes; resolves when all that began has been acknowledged. */
  readonly end: () => Promise<void>;
}

/** Where the lanes of a load write to. */
interface Notes {
  readonly attempts: Attempt[];
  readonly delivered: Delivered[];
  readonly episodes: Acknowledged[];
  readonly productions: StartedProduction[];
  readonly uploads: string[];
  readonly listeners: { came: number; whole: number };
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Refused) return error.message;
  const { name, code, cause } = error as { name?: string; code?: string; cause?: { code?: string } };
  return name === 'TimeoutError' ? 'no answer in time' : (cause?.code ?? code ?? (error as Error).message.slice(0, 80));
};

/**
 * Listeners who know their file and take ranges of it, listeners who come anew, readers of the feed, and a program that sends commands, each
 * under a key of its own until it is acknowledged, while an encode is under way.
 */
export async function startLoad(show: Show, runId: string): Promise<Load> {
  const notes: Notes = {
    ...{ attempts: [], delivered: [], episodes: [], productions: [], uploads: [] },
    listeners: { came: 0, whole: 0 },
  };
  let goesOn = true;
  const take = createMediaClient((delivered) => notes.delivered.push(delivered));
  // Feeds have no facts.
  const takeFeed = createMediaClient(() => undefined);

  async function attempt<T>(kind: Kind, work: () => Promise<T>): Promise<T | undefined> {
    const startedMs = performance.now();
    try {
      const result = await work();
      notes.attempts.push({ kind, startedMs, endedMs: performance.now() });
      return result;
    } catch (error) {
      notes.attempts.push({ kind, startedMs, endedMs: performance.now(), failure: reasonOf(error) });
      return undefined;
    }
  }
  /** Attempts it until it succeeds, whether the load goes on or not: what was begun must be acknowledged in the end. */
  async function insist<T>(kind: Kind, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const result = await attempt(kind, work);
      if (result !== undefined) return result;
      await pause(100);
    }
  }
  async function rest<T>(method: string, route: string, body?: unknown, key?: string): Promise<T> {
    const response = await fetch(`${show.urls.base}/api/v1${route}`, {
      method,
      headers: {
        token: show.apiKey,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    if (!response.ok) throw new Refused(`HTTP ${response.status}`);
    return (text ? JSON.parse(text) : {}) as T;
  }
  const command = <T>(method: 'POST' | 'PUT', route: string, key: string, body: unknown = {}) =>
    insist('command', () => rest<T>(method, route, body, `${runId}.${key}`));

  const lane = async (pauseMs: number, step: (round: number) => Promise<unknown>) => {
    for (let round = 0; goesOn; round += 1) {
      await step(round);
      await pause(pauseMs);
    }
  };

  /** Takes ranges of one file, which is compared with what it was before. */
  async function listenOn(name: string): Promise<void> {
    const agent = `Overcast/3.0 ${runId} ${name}`;
    const whole = await until(`the file of ${name}`, () => download(show.enclosureUrl, agent), { despiteErrors: true });
    const length = 150_000;
    await lane(200, async (round) => {
      const from = (round * 377_777) % (whole.bytes.length - length);
      await attempt('known listener', async () => {
        const range = `bytes=${from}-${from + length - 1}`;
        const bytes = await take(whole.mediaUrl, { 'user-agent': agent, range });
        if (!bytes.equals(whole.bytes.subarray(from, from + length))) throw new Refused('OTHER BYTES');
      });
    });
  }
  /** Plays on by HLS: segments, which are compared with what they were before, now and then a playlist and a list of ads. */
  async function playOn(): Promise<void> {
    const agent = `Overcast/3.0 ${runId} HLS`;
    const play = await until('a play by HLS', () => openHlsPlay(show.entryUrl, agent, { take, takeText: takeFeed }), {
      despiteErrors: true,
    });
    await lane(200, (round) => attempt('HLS listener', () => play.goOn(round)));
  }
  /** Begins to play by HLS: playlists, the ads of the first break if there is one, and the first segment. */
  const playAnew = () =>
    lane(500, async (round) => {
      const agent = `AntennaPod/9.${runId}.HLS.${round}`;
      await attempt('new HLS listener', async () => {
        const play = await openHlsPlay(show.entryUrl, agent, { take, takeText: takeFeed });
        await play.goOn(0);
      });
    });
  const comeAnew = (lanes: number) =>
    lane(300, async (round) => {
      const agent = `AntennaPod/9.${runId}.${lanes}.${round}`;
      notes.listeners.came += 1;
      await insist('new listener', async () => (await take(show.enclosureUrl, { 'user-agent': agent })).length);
      notes.listeners.whole += 1;
    });
  const writeEpisodes = (name: number) =>
    lane(300, async (round) => {
      const title = `${runId} ${name}.${round}`;
      const route = `/podcasts/${show.podcastId}/episodes`;
      const { id } = await command<{ id: string }>('POST', route, `create.${name}.${round}`, {
        title: `${title} draft`,
      });
      await command('PUT', `/episodes/${id}`, `revise.${name}.${round}`, { title });
      notes.episodes.push({ id, title, endedMs: performance.now() });
    });
  const encode = () =>
    lane(3_000, async (round) => {
      const title = `${runId} sound ${round}`;
      const route = `/podcasts/${show.podcastId}/episodes`;
      const episode = await command<{ id: string }>('POST', route, `sound.${round}`, { title });
      const body = { episode_id: episode.id, file_url: show.sourceUrl };
      const { id } = await command<{ id: string }>('POST', '/productions', `production.${round}`, body);
      await command('POST', `/productions/${id}/start`, `start.${round}`);
      notes.productions.push({ id, endedMs: performance.now() });
      while (goesOn) {
        const production = await attempt('read', () => rest<{ state: string }>('GET', `/productions/${id}`));
        if (production && ['encoded', 'error'].includes(production.state)) return;
        await pause(250);
      }
    });
  const readBack = () =>
    lane(150, async () => {
      const last = notes.episodes.at(-1);
      if (last === undefined) return;
      await attempt('read', async () => {
        const { title } = await rest<{ title: string }>('GET', `/episodes/${last.id}`);
        if (title !== last.title) throw new Refused('ANOTHER TITLE');
      });
    });
  const upload = () =>
    lane(400, async (round) => {
      await attempt('upload', async () => {
        const bytes = Buffer.alloc(50_000, round);
        const grant = await rest<{ upload_url: string; content_type: string; file_url: string }>('POST', '/uploads', {
          ...{ filename: 'a.mp3', filesize: bytes.length },
        });
        const headers = { 'content-type': grant.content_type };
        const signal = AbortSignal.timeout(patienceMs);
        const { ok, status } = await fetch(grant.upload_url, { method: 'PUT', body: bytes, headers, signal });
        if (!ok) throw new Refused(`HTTP ${status} of the object store`);
        notes.uploads.push(grant.file_url);
      });
    });

  const lanes = [
    ...[playOn(), playAnew(), listenOn('one'), listenOn('two'), comeAnew(0), comeAnew(1), comeAnew(2)],
    lane(200, () => attempt('feed', async () => void (await takeFeed(show.feedUrl, {})))),
    ...[writeEpisodes(0), writeEpisodes(1), encode(), readBack(), upload()],
  ];
  const running = Promise.all(lanes);
  running.catch(() => undefined);
  return {
    record: notes,
    end: async () => {
      goesOn = false;
      await running;
    },
  };
}
