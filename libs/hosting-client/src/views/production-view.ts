import { productions, type Attributes, type Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import type { View, ViewContext } from './view.ts';

const attributes = productions.attributes.shape;

export const productionFile = z.strictObject({
  role: z.enum(['source', 'rendition', 'waveform']),
  format: z.string(),
  bitrate: z.int().optional(),
  /** Where the file can be fetched; absent for files that only the service reads. */
  url: z.url().optional(),
  size: z.int(),
  duration_ms: z.int().optional(),
  sha256: z.string(),
});

const track = z.strictObject({
  state: z.enum(['encoding', 'ready', 'failed']),
  progress: z.number().min(0).max(1).nullable().describe('0 to 1; null after a failure.'),
  problem: attributes.problem,
});

const schema = z.strictObject({
  id: z.string(),
  episode_id: z.string(),
  state: z.enum(productions.states).exclude(['deleted']),
  /** 0 to 1; null after a failure. */
  progress: z.number().min(0).max(1).nullable(),
  /** While it is encoded or waits for it. */
  queue: z
    .strictObject({
      position: z.int().min(0).describe('Position in the queue: 1 is the next one, 0 is being encoded.'),
      estimated_start_at: z.iso.datetime().optional().describe('Missing after the encoding has begun.'),
      estimated_end_at: z.iso.datetime(),
    })
    .describe('An estimate from the pace of the last hour, if nothing else is added to the queue.')
    .optional(),
  publication_flag: z.boolean(),
  /** Null until audio is attached. */
  file_url: z.url().nullable(),
  files: z.array(productionFile),
  audio_duration_ms: z.int().nullable(),
  loudness: attributes.loudness,
  tracks: z
    .record(z.string(), track)
    .optional()
    .describe('Tracks of HLS by name, such as "a192" or "v720". Missing when there are none.'),
  problem: attributes.problem,
  warnings: attributes.warnings.describe(
    'Problems of the file that did not prevent its encoding. Missing when there are none.',
  ),
});

function renderFiles(
  id: string,
  { episode_id: episodeId, files, file_url: fileUrl }: Attributes<'productions'>,
  mediaUrl: string,
): z.output<typeof productionFile>[] {
  const urls = {
    source: () => fileUrl,
    rendition: (digest: string) => `${mediaUrl}/delivery/v1/a/${digest}/${id}.mp3?e=${episodeId}`,
    waveform: () => undefined,
  };
  return files.map(({ role, format, bitrate, size_bytes: size, duration_ms, sha256 }) => {
    const url = urls[role](sha256);
    return {
      role,
      format,
      ...(bitrate !== undefined && { bitrate }),
      ...(url !== undefined && { url }),
      size,
      ...(duration_ms !== undefined && { duration_ms }),
      sha256,
    };
  });
}

async function progressOf(
  { id, lifecycle_state: state }: Resource<'productions'>,
  { deps }: ViewContext,
): Promise<number | null> {
  if (state === 'encoded') return 1;
  if (state === 'error') return null;
  return state === 'encoding' ? ((await deps.progress.last(id))?.progress ?? 0) : 0;
}

/** Its tracks of HLS, each a job of its own. */
async function tracksOf(
  { id, attributes: { tracks } }: Resource<'productions'>,
  { deps }: ViewContext,
): Promise<z.output<typeof schema>['tracks']> {
  if (!tracks) return undefined;
  const shown = Object.entries(tracks).map(async ([name, { state, problem }]) => {
    const running = state === 'encoding' ? ((await deps.progress.last(id, name))?.progress ?? 0) : null;
    return [name, { state, progress: state === 'ready' ? 1 : running, ...(problem && { problem }) }] as const;
  });
  return Object.fromEntries(await Promise.all(shown));
}

/** Its place among everything that waits for an encoder. */
async function queueOf(
  resource: Resource<'productions'>,
  { caller, deps }: ViewContext,
): Promise<z.output<typeof schema>['queue']> {
  if (resource.lifecycle_state !== 'encoding') return undefined;
  const place = await deps.management.findQueuePlace(caller, resource);
  const at = (ms: bigint) => new Date(deps.clock().getTime() + Number(ms)).toISOString();
  return (
    place && {
      position: place.position,
      ...(place.position > 0 && { estimated_start_at: at(place.startsInMs) }),
      estimated_end_at: at(place.endsInMs),
    }
  );
}

async function render(resource: Resource<'productions'>, context: ViewContext) {
  const { attributes } = resource;
  const { episode_id, publication_flag, file_url = null, problem, warnings } = attributes;
  const { audio_duration_ms = null, loudness } = attributes;
  const [progress, queue] = await Promise.all([progressOf(resource, context), queueOf(resource, context)]);
  return {
    id: resource.id,
    episode_id,
    state: resource.lifecycle_state,
    progress,
    ...(queue && { queue }),
    publication_flag,
    file_url,
    files: renderFiles(resource.id, attributes, context.deps.mediaUrl),
    audio_duration_ms,
    ...(loudness && { loudness }),
    ...(problem && { problem }),
    ...(warnings && { warnings }),
  };
}

/** Tracks are made while the production has its version and its tag: their progress belongs to the part of the tag that changes without one. */
async function findFields(productions: readonly Resource<'productions'>[], context: ViewContext) {
  const found = await Promise.all(
    productions.map(async (each) => [each.id, { tracks: await tracksOf(each, context) }] as const),
  );
  return new Map(found.filter(([, { tracks }]) => tracks !== undefined));
}

export const productionView = { name: 'Production', schema, render, findFields } satisfies View<'productions'>;
