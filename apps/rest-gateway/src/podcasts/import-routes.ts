import { podcasts, productCatalog } from '@longwave/command-catalog';
import type { ImportItem, ImportNote, ImportNoteCount, PreviewFeedResponse } from '@longwave/rpc/feed';
import { z } from 'zod';
import { listQuery, renderList } from '../list-answer.ts';
import { change, commandRoute } from '../resource-routes.ts';
import { defineRoute, type AnswerShape, type ObjectCall, type Route } from '../route.ts';

const attributes = podcasts.attributes.shape.import.unwrap().shape;

const note = z.strictObject({
  /** Our name of the field, or the feed's name of an element that has no field here. */
  field: z.string(),
  detail: z.string(),
});
const fieldCount = z.strictObject({ field: z.string(), items: z.int() });

const importShape: AnswerShape = {
  name: 'Import',
  schema: z.strictObject({
    feed_url: attributes.feed_url,
    state: z.enum(['running', 'completed', 'failed']),
    /** Whether its episodes are published as soon as they have audio. */
    publish: z.boolean(),
    /** Items of the feed. */
    total: z.int(),
    /** Episodes that the import made. */
    created: z.int(),
    /** Episodes that have their audio. */
    encoded: z.int(),
    published: z.int(),
    scheduled: z.int(),
    /** Items without an episode, and episodes without audio. */
    failed: z.int(),
    problem: attributes.problem,
    /** Items whose field was kept in another form, by field. */
    changed: z.array(fieldCount),
    /** Items of which something was not kept, by field or element. */
    lost: z.array(fieldCount),
    channel: z.strictObject({ changed: z.array(note), lost: z.array(note) }),
  }),
};

const itemShape: AnswerShape = {
  name: 'ImportItem',
  list: true,
  schema: z.strictObject({
    /** Place in the feed, from 1. */
    position: z.int(),
    title: z.string(),
    guid: z.string(),
    /** How far it has come: `failed` has no episode, or its episode has no audio. */
    state: z.enum(['failed', 'waiting', 'encoding', 'encoded', 'scheduled', 'published', 'unpublished', 'archived']),
    episode_id: z.string().optional(),
    problem: z.string().optional(),
    changed: z.array(note),
    lost: z.array(note),
  }),
};

const previewShape: AnswerShape = {
  name: 'ImportPreview',
  schema: z.strictObject({
    feed_url: attributes.feed_url,
    title: z.string(),
    author: z.string().optional(),
    /** HTML, reduced to what feeds here may hold. */
    description: z.string().optional(),
    language: z.string().optional(),
    /** Address of the picture at its present host. */
    artwork_url: z.string().optional(),
    /** True while the present host allows no import: `podcast:locked` of the feed is “yes”. */
    locked: z.boolean(),
    /** The feed asks directories to hide the whole podcast: `publish` has no effect. */
    blocked: z.boolean(),
    /** Items of the feed. */
    total: z.int(),
    /** Bytes of the files as the feed states them; absent where it states none. */
    audio_bytes: z.int().optional(),
    /** Items that would have no episode, or one without audio. */
    failing: z.int(),
    /** The first 20 of them. */
    failing_items: z.array(z.strictObject({ position: z.int(), title: z.string(), problem: z.string() })),
    /** Items whose field would be kept in another form, by field. */
    changed: z.array(fieldCount),
    /** Items of which something would not be kept, by field or element. */
    lost: z.array(fieldCount),
    channel: z.strictObject({ changed: z.array(note), lost: z.array(note) }),
  }),
};

const object = { type: 'podcasts', from: 'path', field: 'id' } as const;
const podcastOf = ({ access, id }: Pick<ObjectCall, 'access' | 'id'>) => ({
  workspaceId: access.workspaceId,
  podcastId: id,
});

const notesOf = (notes: readonly ImportNote[], kind: string) =>
  notes.filter((each) => each.kind === kind).map(({ field, detail }) => ({ field, detail }));

const countsOf = (counts: readonly ImportNoteCount[], kind: string) =>
  counts.filter((each) => each.kind === kind).map(({ field, items }) => ({ field, items }));

const renderItem = ({ position, title, guid, state, episodeId, problem, notes }: ImportItem) => ({
  position,
  title,
  guid,
  state,
  ...(episodeId && { episode_id: episodeId }),
  ...(problem && { problem }),
  changed: notesOf(notes, 'changed'),
  lost: notesOf(notes, 'lost'),
});

const renderPreview = (feedUrl: string, preview: PreviewFeedResponse) => {
  const { title, author, description, language, artworkUrl, audioBytes, noteCounts, channelNotes } = preview;
  return {
    feed_url: feedUrl,
    title,
    ...(author && { author }),
    ...(description && { description }),
    ...(language && { language }),
    ...(artworkUrl && { artwork_url: artworkUrl }),
    locked: preview.isLocked,
    blocked: preview.isBlocked,
    total: preview.items,
    ...(audioBytes > 0n && { audio_bytes: Number(audioBytes) }),
    failing: preview.leftOutItems,
    failing_items: preview.leftOut.map(({ position, title: name, problem }) => ({ position, title: name, problem })),
    changed: countsOf(noteCounts, 'changed'),
    lost: countsOf(noteCounts, 'lost'),
    channel: { changed: notesOf(channelNotes, 'changed'), lost: notesOf(channelNotes, 'lost') },
  };
};

const importing = productCatalog.commands['podcast.import_feed'];

/** POST /podcasts/import/preview: what an import would take over. It is no GET, because addresses of feeds can be secret. */
export const previewImport = (path: string) => {
  const { permit, refusals, deadlineMs } = commandRoute('podcast.import_feed');
  return defineRoute({
    method: 'POST',
    path,
    operation: 'podcastImportPreview',
    summary:
      'Fetches a feed and says what an import would take over of it, and what it would not. Makes nothing. Refused where the import would be refused, but for a locked feed, which is shown as such.',
    permit,
    refusals,
    deadlineMs,
    body: importing.changes.pick({ feed_url: true }),
    answer: previewShape,
    run: async ({ caller, body: { feed_url: feedUrl } }, { management }) => ({
      status: 200,
      body: renderPreview(feedUrl, await management.previewFeed(caller, { workspaceId: caller.workspaceId, feedUrl })),
    }),
  });
};

/** The import of a podcast: its progress, its report item by item, as JSON and as CSV, and the commands that publish it and try failed items again. */
export const podcastImport = (path: string): readonly Route[] => [
  change('POST', `${path}/publish`, 'podcast.publish_import'),
  change('POST', `${path}/retry`, 'podcast.retry_import'),
  defineRoute({
    method: 'GET',
    path,
    operation: 'podcastImportGet',
    summary: 'Shows the progress of an import, and what it changed and lost. 404 for a podcast that was not imported.',
    object,
    answer: importShape,
    run: async (call, { management }) => {
      const { noteCounts, channelNotes, ...counts } = await management.findImport(call.caller, podcastOf(call));
      const { feed_url, publish = false, problem } = call.object.attributes.import!;
      return {
        status: 200,
        body: {
          feed_url,
          publish,
          ...counts,
          ...(problem && { problem }),
          changed: countsOf(noteCounts, 'changed'),
          lost: countsOf(noteCounts, 'lost'),
          channel: { changed: notesOf(channelNotes, 'changed'), lost: notesOf(channelNotes, 'lost') },
        },
      };
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/items`,
    operation: 'podcastImportItems',
    summary:
      'The result for each item of an imported feed, in the order of the feed: its episode, and what was changed, lost or failed.',
    object,
    query: listQuery,
    answer: itemShape,
    run: (call, { management, baseUrl }) =>
      renderList(
        management.importItems(call.caller, podcastOf(call)),
        (items) => items.map(renderItem),
        call.query,
        new URL(call.url, baseUrl).href,
      ),
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/items.csv`,
    operation: 'podcastImportExport',
    summary:
      'The same report as comma-separated values: position, title, guid, state, episode_id, problem, changed, lost.',
    object,
    answer: 'csv',
    run: async (call, { management }) => ({
      fileName: `import-${call.id}.csv`,
      csv: (async function* () {
        const lines = management.importLines(call.caller, podcastOf(call));
        const first = await lines.next();
        yield `position,title,guid,state,episode_id,problem,changed,lost\r\n${first.done ? '' : first.value}`;
        yield* lines;
      })(),
    }),
  }),
];
