import { sha256 } from '@longwave/test-kit';
import { composePlay } from '../src/progressive/compose-play.ts';
import type { NewArrangement } from '../src/arrangements/arrangement-table.ts';

/** The file of a short episode without ads; another one for each title. */
export const arrangementOf = (title: string): NewArrangement =>
  composePlay(
    {
      ...{ workspaceId: 'ws_1', podcastId: 'pod_1', episodeId: 'ep_1', publishedAt: new Date(0), fileName: 'x' },
      ...{ title, podcastTitle: 'Tides', author: 'Ana' },
      playsEndBefore: undefined,
      withoutAds: false,
      rights: undefined,
      rendition: { digest: sha256(Buffer.from(title)), sizeBytes: 3_840, durationMs: 240 },
    },
    {
      intro: undefined,
      outro: undefined,
      chapters: [],
      artwork: undefined,
      track: undefined,
      page: undefined,
      breakFadeMs: 0,
      silences: [],
    },
    [],
    undefined,
  );
