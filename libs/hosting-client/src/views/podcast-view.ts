import { analyticsRoles, managerRoles } from '@longwave/principal';
import { podcasts, templatePart, type Attributes, type Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import { accessTo } from '../access.ts';
import type { Asker } from '../asker.ts';
import { artworkSchema, renderArtwork } from './artwork-view.ts';
import type { View, ViewContext } from './view.ts';

const attributes = podcasts.attributes.shape;

const part = z.strictObject({
  ...templatePart.pick({ file_url: true, state: true, problem: true }).shape,
  /** Of the audio that is in use: the previous one while a new file is prepared. */
  duration_ms: z.int().optional(),
});

const importProgress = attributes.import.unwrap().omit({ storage_key: true, sha256: true });

const schema = z.strictObject({
  id: z.string(),
  title: attributes.title,
  subdomain: attributes.subdomain,
  state: z.enum(podcasts.states),
  feed_url: z.url(),
  /** Its page, there while it is published; `/{id}` behind it is the page of an episode. */
  site_url: z.url(),
  ...podcasts.attributes.omit({
    title: true,
    subdomain: true,
    artwork: true,
    intro: true,
    outro: true,
    import: true,
    collaborators: true,
    hosted_by: true,
  }).shape,
  artwork: artworkSchema.optional(),
  intro: part.optional(),
  outro: part.optional(),
  import: importProgress.optional(),
  /** Only for those who manage them. */
  collaborators: attributes.collaborators,
  analytics: z
    .enum(['available', 'not_in_plan', 'not_permitted'])
    .describe(
      'Whether the caller may see numbers of the podcast, once it is published: that takes the right to, and a plan of its account with analytics.',
    ),
});

const renderPart = ({
  segment,
  upload_id: _upload,
  ...shown
}: z.output<typeof templatePart>): z.output<typeof part> => ({
  ...shown,
  ...(segment && { duration_ms: segment.duration_ms }),
});

function renderImport({ storage_key: _key, sha256: _digest, ...shown }: NonNullable<Attributes<'podcasts'>['import']>) {
  return shown;
}

/** A podcast without details of its storage. */
function render(resource: Resource<'podcasts'>, { deps: { mediaUrl } }: ViewContext) {
  const { id, lifecycle_state: state } = resource;
  const { title, subdomain, artwork, intro, outro, import: moved, ...more } = resource.attributes;
  const { hosted_by: _platform, collaborators: _managed, ...others } = more;
  return {
    id,
    title,
    subdomain,
    state,
    feed_url: `${mediaUrl}/feeds/${subdomain}.xml`,
    site_url: `${mediaUrl}/site/${subdomain}`,
    ...others,
    ...(artwork && { artwork: renderArtwork(artwork, mediaUrl) }),
    ...(intro && { intro: renderPart(intro) }),
    ...(outro && { outro: renderPart(outro) }),
    ...(moved && { import: renderImport(moved) }),
  };
}

/** What depends on who asks, and on the plan of the podcast's account: it changes without a version, so it belongs to that part of the tag. */
function fieldsFor(
  { id, workspace_id: workspaceId, attributes: { collaborators } }: Resource<'podcasts'>,
  caller: Asker,
) {
  const { roles = [], plan } = accessTo(caller, workspaceId, id) ?? {};
  const hasOneOf = (some: readonly string[]) => some.some((role) => roles.includes(role));
  const inPlan = plan?.includesAnalytics ? 'available' : 'not_in_plan';
  return {
    ...(collaborators && hasOneOf(managerRoles) && { collaborators }),
    analytics: hasOneOf(analyticsRoles) ? inPlan : 'not_permitted',
  };
}

const findFields = (podcasts: readonly Resource<'podcasts'>[], { caller }: ViewContext) =>
  Promise.resolve(new Map(podcasts.map((podcast) => [podcast.id, fieldsFor(podcast, caller)])));

export const podcastView = { name: 'Podcast', schema, render, findFields } satisfies View<'podcasts'>;
