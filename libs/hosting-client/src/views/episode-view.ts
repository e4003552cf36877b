import { episodes, type Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import { artworkSchema, renderArtwork } from './artwork-view.ts';
import type { View, ViewContext } from './view.ts';

const attributes = episodes.attributes.shape;

const part = z.strictObject({ duration_ms: z.int() });

const schema = z.strictObject({
  id: z.string(),
  title: attributes.title,
  podcast_id: z.string(),
  state: z.enum(episodes.states),
  ...episodes.attributes.omit({
    title: true,
    podcast_id: true,
    artwork: true,
    chapters: true,
    transcripts: true,
    markers: true,
    intro: true,
    outro: true,
    snapshot_id: true,
  }).shape,
  artwork: artworkSchema.optional(),
  /** How many there are; each list has an address of its own. */
  chapter_count: z.int(),
  transcript_count: z.int(),
  marker_count: z.int(),
  /** The podcast's intro and outro as this episode has them. */
  intro: part.optional(),
  outro: part.optional(),
  enclosure_url: z
    .url()
    .optional()
    .describe(
      'The address of the audio in the feed. Only for episodes that listeners can play. It appears and disappears a moment after the ' +
        'change that causes it, and is missing while the delivery service is not available.',
    ),
});

/** An episode with counts in place of its chapters, transcripts and markers. */
function render(
  { id, lifecycle_state: state, attributes: stored }: Resource<'episodes'>,
  { deps: { mediaUrl } }: ViewContext,
) {
  const { title, podcast_id, artwork, chapters = [], transcripts = [], markers = [], ...more } = stored;
  const { intro, outro, snapshot_id: _version, ...others } = more;
  return {
    id,
    title,
    podcast_id,
    state,
    ...others,
    ...(artwork && { artwork: renderArtwork(artwork, mediaUrl) }),
    chapter_count: chapters.length,
    transcript_count: transcripts.length,
    marker_count: markers.length,
    ...(intro && { intro: { duration_ms: intro.duration_ms } }),
    ...(outro && { outro: { duration_ms: outro.duration_ms } }),
  };
}

async function findFields(episodes: readonly Resource<'episodes'>[], { caller, deps }: ViewContext) {
  const enclosures = await deps.findEnclosures(episodes, caller);
  return new Map([...enclosures].map(([id, url]) => [id, { enclosure_url: url }]));
}

export const episodeView = {
  name: 'Episode',
  schema,
  render,
  findFields,
} satisfies View<'episodes'>;
