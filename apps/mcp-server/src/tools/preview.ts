import { productCatalog, type CommandDefinition, type ProductCommand, type Resource } from '@longwave/command-catalog';
import { requireCommand, type Access, type Asker } from '@longwave/hosting-client';
import { countEpisodeSeries, permitEpisodeAnalytics } from '@longwave/podcast-analytics';
import { isProblem, Problem } from '@longwave/problems';
import { z } from 'zod';
import type { Confirmed } from '../confirmations.ts';
import type { ToolDeps } from '../tool.ts';

/** Arguments of a tool that asks before it acts. */
export const confirmArguments = {
  confirm_token: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('From the preview of the same call. Without it the call changes nothing and answers with a preview.'),
};

/** What a call would do, and the handle that lets it happen. */
export const preview = z.strictObject({
  status: z.literal('preview'),
  object: z.strictObject({ kind: z.string(), id: z.string(), title: z.string().nullable(), state: z.string() }),
  change: z.string().describe('What the call does.'),
  effect: z.string().nullable().describe('What listeners and directories notice.'),
  feed_url: z.url().nullable().describe('The public feed that changes; null when none does.'),
  downloads_so_far: z
    .int()
    .nullable()
    .describe('Of the published episode; null where they are not known, or the person may not see them.'),
  confirm_token: z.string(),
  expires_at: z.iso.datetime(),
});

/** Throws `version_conflict` unless the object has the version. */
export function requireVersion({ version }: { readonly version: number }, expected: number): void {
  if (version !== expected)
    throw new Problem('version_conflict', `The current version is ${version}. Read the object again.`);
}

/** The feed in which an episode is seen; null while nobody sees it. */
async function findPublicFeed(
  { lifecycle_state: state, attributes }: Resource<'episodes'>,
  asker: Asker,
  { management, views }: ToolDeps,
): Promise<string | null> {
  const { resource: podcast } = await management.find(asker, 'podcasts', attributes.podcast_id);
  const isSeen = podcast.lifecycle_state === 'published' && state !== 'archived';
  return isSeen ? `${views.mediaUrl}/feeds/${podcast.attributes.subdomain}.xml` : null;
}

/** Every download of a published episode within the history of the plan; null where the person may not see it, or nobody can count. */
async function countDownloadsSoFar(
  object: Resource<'episodes'>,
  access: Access,
  asker: Asker,
  deps: ToolDeps,
): Promise<number | null> {
  const { published_at: from } = object.attributes;
  if (object.lifecycle_state !== 'published' || from === undefined) return null;
  try {
    await permitEpisodeAnalytics({ caller: asker, object, access }, deps);
    const to = new Date(deps.clock().getTime() + 3_600_000).toISOString();
    const query = { from, to, granularity: 'month' } as const;
    const { objects } = await countEpisodeSeries({ caller: asker, object, access, query }, deps);
    return objects.reduce((sum, { downloads }) => sum + downloads, 0);
  } catch (error) {
    if (isProblem(error, 'analytics_unavailable', 'temporarily_unavailable', 'timeout')) return null;
    throw error;
  }
}

/**
 * Throws `episode_has_no_audio`, as the confirmed command would, for an episode with neither a production nor a media clip of its own.
 * Of an episode with a production the command itself decides.
 */
async function requireAudio(
  { id, attributes }: Resource<'episodes'>,
  asker: Asker,
  { management }: ToolDeps,
): Promise<void> {
  if (attributes.current_production_id !== undefined) return;
  const clips = await management.list(asker, 'media_clips', { links: { episode: id }, states: ['active'] });
  if (!clips.some((clip) => clip.attributes.production_id === undefined))
    throw new Problem('episode_has_no_audio', `Before publishing, “${attributes.title}” still needs audio.`);
}

/** An object, and the command that a confirmed call sends to it. */
interface Previewed {
  readonly kind: 'episode' | 'media_clip' | 'production';
  readonly resource: Resource<'episodes' | 'media_clips' | 'productions'>;
  readonly access: Access;
  readonly command: ProductCommand;
  /** The episode that listeners see change. */
  readonly episode: Resource<'episodes'> | undefined;
}

/**
 * Shows what a call would do, and issues the handle that lets it happen. Throws `permission_denied` when the person may not do it, and
 * `episode_has_no_audio` when there is nothing to publish.
 */
export async function previewCall(
  { kind, resource, access, command, episode }: Previewed,
  call: Confirmed,
  asker: Asker,
  deps: ToolDeps,
): Promise<z.output<typeof preview>> {
  requireCommand(asker, access, command);
  if (command === 'episode.publish' && episode) await requireAudio(episode, asker, deps);
  const { summary: change, externalEffect: effect = null }: CommandDefinition = productCatalog.commands[command];
  const [feed_url, downloads_so_far] = episode
    ? await Promise.all([findPublicFeed(episode, asker, deps), countDownloadsSoFar(episode, access, asker, deps)])
    : [null, null];
  const { token, expiresAt } = await deps.confirmations.issue(call);
  const { id, lifecycle_state: state } = resource;
  return {
    status: 'preview',
    object: { kind, id, title: episode?.attributes.title ?? null, state },
    change,
    effect,
    feed_url,
    downloads_so_far,
    confirm_token: token,
    expires_at: expiresAt.toISOString(),
  };
}
