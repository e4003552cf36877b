import type { FeedPodcast } from '@longwave/feed';
import { HtmlValidate } from 'html-validate/node';
import type { SiteEpisode, SiteEpisodeDetails, SiteShow } from '../src/index.ts';

const mediaUrl = 'https://media.test/';

const validator = new HtmlValidate({ root: true, extends: ['html-validate:standard'] });

/** What the validator finds wrong with a page, with the line of each. */
export async function faultsOf(html: string): Promise<readonly string[]> {
  const { results } = await validator.validateString(html);
  return results.flatMap(({ messages }) =>
    messages.map(({ line, ruleId, message }) => `${line}: ${ruleId}: ${message}`),
  );
}

export const showOf = (changes: Partial<FeedPodcast> = {}): SiteShow => ({
  url: `${mediaUrl}site/tides`,
  mediaUrl,
  podcast: {
    title: 'Tides',
    description: '<p>Of the <strong>sea</strong>, and who lives beside it.</p>',
    link: `${mediaUrl}site/tides`,
    feedUrl: `${mediaUrl}feeds/tides.xml`,
    language: 'en',
    guid: '917393e3-1b1e-5cef-ace4-edaa54e1f810',
    categories: ['Science'],
    explicit: false,
    type: 'episodic',
    locked: false,
    medium: 'podcast',
    author: 'Ana Ruiz',
    copyright: '© 2026 Ana Ruiz',
    artworkUrl: `${mediaUrl}delivery/v1/i/3000.jpg`,
    images: [3000, 1400, 600].map((size) => ({
      url: `${mediaUrl}delivery/v1/i/${size}.jpg`,
      size,
      contentType: 'image/jpeg',
    })),
    ...changes,
  },
});

export const episodeOf = (changes: Partial<SiteEpisode> = {}): SiteEpisode => ({
  url: `${mediaUrl}site/tides/ep_1`,
  isHere: true,
  oembedUrl: `${mediaUrl}oembed?url=x`,
  guid: 'ep_1',
  title: 'The fog of 1911',
  publishedAt: new Date('2026-11-20T10:00:00Z'),
  enclosure: { url: `${mediaUrl}delivery/v1/e/t1.x/fog.mp3`, lengthBytes: 1, contentType: 'audio/mpeg' },
  durationMs: 31 * 60_000 + 7_000,
  type: 'full',
  description:
    '<p>Boats &amp; lights.</p>\n<ul><li>One</li><li><a href="https://a.example/?a=1&amp;b=2">Two</a></li></ul>',
  season: 2,
  number: 4,
  persons: [{ name: 'Ana Ruiz', role: 'host', link: 'https://ana.example/' }, { name: 'Ben' }],
  transcripts: [
    {
      url: `${mediaUrl}delivery/v1/e/t1.x/transcript.vtt?lang=en`,
      contentType: 'text/vtt',
      language: 'en',
      captions: false,
    },
  ],
  ...changes,
});

export const details: SiteEpisodeDetails = {
  chapters: [
    { startMs: 0, title: 'Ebb & flow' },
    { startMs: 3_723_000, title: 'Flood', url: 'https://flood.example/' },
  ],
  mayHaveAds: true,
  transcript: {
    language: 'en',
    cues: [
      { start_ms: 0, end_ms: 900, speaker: 'Ana', text: 'Good morning.' },
      { start_ms: 900, end_ms: 1_800, speaker: 'Ana', text: 'This is Tides.' },
      { start_ms: 1_900, end_ms: 2_500, speaker: 'Ben', text: 'a < b' },
    ],
  },
};
