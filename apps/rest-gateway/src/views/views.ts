import type { RestView } from './rest-view.ts';
import { batchEncodingView } from './batch-encoding-view.ts';
import { episodeView } from './episode-view.ts';
import { mediaClipView } from './media-clip-view.ts';
import { podcastView } from './podcast-view.ts';
import { productionView } from './production-view.ts';

/** The resources of REST v1 and how each is shown. */
export const views = {
  podcasts: podcastView,
  episodes: episodeView,
  productions: productionView,
  media_clips: mediaClipView,
  batch_encodings: batchEncodingView,
} as const satisfies Record<string, RestView>;

export type ShownType = keyof typeof views;

export const isShown = (type: string): type is ShownType => Object.hasOwn(views, type);
