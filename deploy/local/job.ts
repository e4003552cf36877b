import path from 'node:path';
import type { FleetAccess } from '@longwave/fleet';
import {
  type Account,
  bookCampaign,
  checkFeed,
  checkRanges,
  createAccount,
  createRestClient,
  dissect,
  type DissectedFile,
  download,
  type Download,
  type HeardByHls,
  listenerAgentOf,
  NoAd,
  openOperator,
  publishPlan,
  type RestClient,
  uploadFile,
} from '@longwave/test-kit/clients';
import { awaitPresentation, compareSurfaces, entryUrlOf, hearByHls } from './hls-steps.ts';
import type { JobReporter, JobResult } from './job-result.ts';
import { sha256, until } from '@longwave/test-kit';

interface ProductionView {
  readonly id: string;
  readonly state: string;
  readonly files: readonly {
    role: string;
    format: string;
    size: number;
    url: string;
    sha256: string;
    duration_ms?: number;
  }[];
  readonly audio_duration_ms?: number;
  readonly loudness?: { readonly output_lufs: number | null };
  readonly problem?: { readonly code: string; readonly detail: string };
}

const uploadIdOf = (fileUrl: string) => /\/(upl_[0-9a-z]{26})\//.exec(fileUrl)![1]!;
/** The trial fails when so many listeners got a file without the ad, as on a machine that is too busy to decide in time. */
const maxListeners = 5;
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

async function encode(
  rest: RestClient,
  productionId: string,
  progress: (fraction: number) => void,
): Promise<ProductionView> {
  const watching = new AbortController();
  const ticks = rest.followProgress(productionId, progress, watching.signal).catch(() => undefined);
  try {
    await rest.post(`/productions/${productionId}/start?publish_episode=true`);
    return await until(
      'encoding',
      async () => {
        const production = await rest.get<ProductionView>(`/productions/${productionId}`);
        if (production.state === 'error') throw new Error(`${production.problem?.code}: ${production.problem?.detail}`);
        return production.state === 'encoded' ? production : undefined;
      },
      { timeoutMs: 4 * 3600_000 },
    );
  } finally {
    watching.abort();
    await ticks;
  }
}

/**
 * A complete trial run, from an account to a counted download, as clients see it. Stops at the first step that does
 * not hold; `ok` is true only when all held.
 */
export async function runJob(options: {
  readonly fleet: FleetAccess;
  readonly audio: string;
  readonly ad: string;
  readonly artwork?: string;
  /** Whether the listener plays the episode by HLS too, with the same ads and still one download. */
  readonly hls?: boolean;
  readonly report: JobReporter;
  /** Called with the account. Its key is no part of the result, because that is kept and printed as JSON. */
  readonly onAccount?: (account: Account) => void;
}): Promise<JobResult> {
  const { fleet, report, hls = false, artwork = path.join(import.meta.dirname, 'samples/cover.jpg') } = options;
  const result: JobResult = { ok: false, steps: [] };
  const operator = openOperator(fleet);
  const step = async (name: string, run: (progress: (fraction: number) => void) => Promise<string>) => {
    const started = performance.now();
    const ms = () => Math.round(performance.now() - started);
    try {
      await report.step(name, run);
      result.steps.push({ name, ok: true, ms: ms() });
    } catch (error) {
      result.steps.push({ name, ok: false, ms: ms() });
      throw error;
    }
  };

  try {
    let account!: Account;
    let rest!: RestClient;
    let audioUrl = '';
    let production!: ProductionView;
    const ids = { podcast: '', episode: '', lineItem: '' };
    let booking!: Awaited<ReturnType<typeof bookCampaign>>;

    await step('account with an API key', async () => {
      account = await createAccount(operator);
      options.onAccount?.(account);
      rest = createRestClient(fleet.urls.base, account.apiKey);
      return account.accountId;
    });
    await step('podcast with artwork, published', async () => {
      const podcast = await rest.post<{ id: string; feed_url: string }>('/podcasts', {
        title: 'Harbour Light',
        language: 'en',
        description: 'Stories from the coast, told slowly.',
        author: 'Harbour Light Audio',
        categories: ['Society & Culture > Places & Travel'],
        explicit: false,
        ...(hls && { hls_audio: true }),
      });
      const cover = await uploadFile(rest, artwork);
      await rest.put(`/podcasts/${podcast.id}`, { artwork_url: cover.fileUrl });
      await rest.post(`/podcasts/${podcast.id}/publish`);
      ids.podcast = result.podcast_id = podcast.id;
      result.feed_url = podcast.feed_url;
      return podcast.id;
    });
    await step('episode', async () => {
      const episode = await rest.post<{ id: string }>(`/podcasts/${ids.podcast}/episodes`, {
        title: 'The first light',
        description: 'Where it begins.',
      });
      ids.episode = result.episode_id = episode.id;
      return episode.id;
    });
    await step('upload', async (progress) => {
      const uploaded = await uploadFile(rest, options.audio, progress);
      audioUrl = uploaded.fileUrl;
      return megabytes(uploaded.bytes);
    });
    await step('encode and publish', async (progress) => {
      const created = await rest.post<ProductionView>('/productions', { episode_id: ids.episode, file_url: audioUrl });
      production = await encode(rest, created.id, progress);
      const { state, audio_duration_ms: duration = 0, loudness, files } = production;
      result.production = {
        state,
        audio_duration_ms: duration,
        loudness_lufs: loudness?.output_lufs ?? null,
        files: files.map(({ role, format, size, url }) => ({ role, format, size, url })),
      };
      return `${seconds(duration)} of audio, ${loudness?.output_lufs ?? 'no'} LUFS`;
    });
    await step('feed', async () => {
      const item = await until('the episode in the feed', () => checkFeed(result.feed_url!), { timeoutMs: 30_000 });
      result.enclosure_url = item.enclosureUrl;
      return `required fields, strong ETag, 304; enclosure of ${megabytes(item.length)}`;
    });
    await step('campaign, line item, creative', async () => {
      const ad = await uploadFile(rest, options.ad);
      booking = await bookCampaign(operator, account.workspaceId, {
        adUploadId: uploadIdOf(ad.fileUrl),
        podcastId: ids.podcast,
        goal: 1000,
      });
      return `${booking.lineItemId}, ${seconds(booking.streams[0]!.duration_ms)} of ad, ${booking.streams.length} loudnesses`;
    });
    await step('serving plan in force', () => publishPlan(operator, account.workspaceId));
    const entryUrl = entryUrlOf(result.enclosure_url!);
    const { workspaceId } = account;
    if (hls)
      await step('presentation for HLS', (progress) =>
        awaitPresentation(operator, { workspaceId, productionId: production.id, entryUrl }, progress),
      );
    let listeners = 0;
    let downloaded!: Download;
    const listen = async (): Promise<{ got: Download; file: DissectedFile }> => {
      const got = await download(result.enclosure_url!, listenerAgentOf(listeners));
      listeners += 1;
      const rendition = production.files.find((file) => file.role === 'rendition')!;
      const content = { sha256: rendition.sha256, size_bytes: rendition.size, duration_ms: rendition.duration_ms ?? 0 };
      try {
        return { got, file: dissect(got.bytes, booking.streams, content) };
      } catch (error) {
        // A listener keeps the file that they were given, so the next try is another listener's.
        if (error instanceof NoAd && listeners < maxListeners) return listen();
        throw error;
      }
    };
    await step('download with the ad stitched in', async () => {
      const { got, file } = await listen();
      downloaded = got;
      const { parts, ad } = file;
      result.download = { status: got.status, bytes: got.bytes.length, sha256: sha256(got.bytes), etag: got.etag };
      const [adLufs, episodeLufs] = [ad.loudness_lufs, production.loudness?.output_lufs ?? null];
      // Silence has no loudness to compare.
      const apartLu = adLufs === null || episodeLufs === null ? 0 : Math.abs(adLufs - episodeLufs);
      if (apartLu > 1) throw new Error(`the ad is ${apartLu.toFixed(1)} LU louder or quieter than the episode`);
      result.arrangement = { parts };
      result.ranges_checked = await checkRanges(got, [parts[0]!.bytes, parts[0]!.bytes + parts[1]!.bytes]);
      return `${megabytes(got.bytes.length)}, ${parts.map((part) => part.kind).join(' + ')}, ${result.ranges_checked} ranges equal the slice`;
    });
    if (hls) {
      let heard!: HeardByHls;
      await step('the same episode by HLS', async (progress) => {
        const { audio_duration_ms: contentMs = 0 } = production;
        const played = await hearByHls(entryUrl, downloaded, contentMs, progress);
        heard = played.heard;
        return played.words;
      });
      await step('the same ads by MP3 and HLS', async () => {
        const { servings, words } = await compareSurfaces(downloaded, heard);
        const { seconds: contentSeconds, segments } = heard;
        result.hls = { entry_url: entryUrl, content_seconds: contentSeconds, segments, servings };
        return words;
      });
    }
    await step(hls ? 'counted once for MP3 and HLS' : 'counted once', async () => {
      result.analytics = await until('counting', async () => {
        const series = await rest.get<{ objects: readonly { downloads: number }[] }>(
          `/podcasts/${ids.podcast}/analytics?days_offset=6&granularity=day`,
        );
        const downloads = series.objects.reduce((sum, day) => sum + day.downloads, 0);
        const { delivered: ads, events } = await operator.adCounts(workspaceId, booking.lineItemId);
        if (downloads > listeners || ads > 1)
          throw new Error(`counted ${downloads} downloads and ${ads} ads instead of ${listeners} and 1`);
        // The report of the ad's end follows all bytes of HLS, so nothing is counted behind it.
        const isRead = !hls || events['complete'] === 1;
        return isRead && downloads === listeners && ads === 1 && series.objects.length >= 7
          ? { listeners, downloads, ads_delivered: ads }
          : undefined;
      });
      const counted = listeners === 1 ? '1 download' : `${listeners} downloads`;
      return `${counted}, 1 ad delivered, empty days filled with zero`;
    });
    result.ok = true;
  } catch {
    // The reporter has shown the step and its error; the result says which step did not hold.
  } finally {
    operator.close();
  }
  return result;
}
