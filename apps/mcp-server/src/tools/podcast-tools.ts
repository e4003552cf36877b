import { podcasts, type Resource } from '@longwave/command-catalog';
import { listSorts } from '@longwave/events';
import type { Asker } from '@longwave/hosting-client';
import { z } from 'zod';
import { readTool, type ToolDeps } from '../tool.ts';
import { pageArguments, pageFields, podcastId } from './fields.ts';
import { chooseFields, fieldNames, listItem, linksOf, objects, show, showAll } from './objects.ts';

const defaultFields = ['id', 'title', 'state', 'feed_url', 'language', 'version', 'updated_at'];

export const listPodcasts = readTool({
  name: 'list_podcasts',
  title: 'List podcasts',
  description:
    'Lists the podcasts that the token can see: those of the account, and those that it works on as a collaborator or member.',
  scopes: ['mcp:read'],
  input: z.strictObject({
    query: z.string().min(1).max(200).optional().describe('Only podcasts whose title contains this text.'),
    fields: z.array(fieldNames(objects.podcast)).max(60).optional().describe('Fields of each item.'),
    sort: z.enum(listSorts).optional(),
    ...pageArguments,
  }),
  output: z.strictObject({ items: z.array(listItem(objects.podcast)), ...pageFields }),
  run: async ({ asker, args }, deps) => {
    const { query: titleContains, fields = [], sort, limit, cursor = '' } = args;
    const page = await deps.management.listPage(asker, 'podcasts', { titleContains, sort }, { limit, cursor });
    const shown = await showAll('podcasts', page.items, asker, deps);
    return {
      output: { items: chooseFields(shown, [...defaultFields, ...fields]), next_cursor: page.nextCursor || null },
      links: linksOf(page.items),
    };
  },
});

const finding = z.strictObject({ severity: z.enum(['error', 'warning']), code: z.string(), text: z.string() });

/** What directories see of a podcast, and what they find wrong. */
const feed = z.strictObject({
  feed_url: z.url(),
  live: z.boolean().describe('Whether the feed is public.'),
  acceptable: z.boolean().nullable().describe('True without any error; null for a feed that is not public.'),
  findings: z.array(finding),
});
const distribution = z.strictObject({
  blocked_platforms: podcasts.attributes.shape.blocked_platforms,
  locked: z.boolean().describe('Whether other hosts are asked not to import the feed.'),
  new_feed_url: z.url().optional().describe('Where the podcast has moved.'),
});
const { intro: introField, outro: outroField } = objects.podcast.shape;

/** Checks the feed as directories do; a feed that is not public has nothing to check. */
async function checkFeed(podcast: Resource<'podcasts'>, asker: Asker, { management, views }: ToolDeps) {
  const live = podcast.lifecycle_state === 'published';
  const address = `${views.mediaUrl}/feeds/${podcast.attributes.subdomain}.xml`;
  if (!live) return { feed_url: address, live, acceptable: null, findings: [] };
  const checked = await management.checkFeed(asker, { workspaceId: podcast.workspace_id, podcastId: podcast.id });
  const findings = z
    .array(finding)
    .parse(checked.findings.map(({ severity, code, text }) => ({ severity, code, text })));
  const acceptable = findings.every(({ severity }) => severity !== 'error');
  return { feed_url: checked.feedUrl, live, acceptable, findings };
}

export const getPodcast = readTool({
  name: 'get_podcast',
  title: 'Show a podcast',
  description:
    'Shows one podcast. `include` adds: "feed" (checks the live feed as directories do, which may take a minute), "distribution" (where it may be listed), "intro_outro" (the audio before and after each episode).',
  scopes: ['mcp:read'],
  deadlineMs: 60_000,
  input: z.strictObject({
    podcast_id: podcastId,
    include: z
      .array(z.enum(['feed', 'distribution', 'intro_outro']))
      .max(3)
      .default([]),
  }),
  output: z.strictObject({
    podcast: objects.podcast.omit({ intro: true, outro: true }),
    feed: feed.optional(),
    distribution: distribution.optional(),
    intro_outro: z.strictObject({ intro: introField!, outro: outroField! }).optional(),
  }),
  run: async ({ asker, args: { podcast_id: id, include } }, deps) => {
    const { resource } = await deps.management.find(asker, 'podcasts', id);
    const { intro: introPart, outro: outroPart, ...podcast } = await show('podcasts', resource, asker, deps);
    const { locked, new_feed_url, blocked_platforms } = resource.attributes;
    return {
      output: {
        podcast,
        ...(include.includes('feed') && { feed: await checkFeed(resource, asker, deps) }),
        ...(include.includes('distribution') && {
          distribution: {
            locked,
            ...(new_feed_url !== undefined && { new_feed_url }),
            ...(blocked_platforms !== undefined && { blocked_platforms }),
          },
        }),
        ...(include.includes('intro_outro') && {
          intro_outro: { intro: introPart, outro: outroPart },
        }),
      },
      links: linksOf([resource]),
    };
  },
});
