import type { ProductResource, Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import type { RestView, ViewContext } from './rest-view.ts';
import { batchEncodingView } from './batch-encoding-view.ts';
import { episodeView } from './episode-view.ts';
import { mediaClipView } from './media-clip-view.ts';
import { podcastView } from './podcast-view.ts';
import { productionView } from './production-view.ts';

const times = { created_at: z.iso.datetime(), updated_at: z.iso.datetime() };

/** Every resource says when it was created and when its present version was made. */
const withTimes = <T extends ProductResource, V extends RestView<T>>(view: V & RestView<T>) => ({
  ...view,
  schema: view.schema.extend(times),
  render: async (resource: Resource<T>, context: ViewContext) => ({
    ...(await view.render(resource, context)),
    created_at: resource.created_at,
    updated_at: resource.updated_at,
  }),
});

/** The resources of REST v1 and how each is shown. */
export const views = {
  podcasts: withTimes(podcastView),
  episodes: withTimes(episodeView),
  productions: withTimes(productionView),
  media_clips: withTimes(mediaClipView),
  batch_encodings: withTimes(batchEncodingView),
} as const satisfies { readonly [T in ProductResource]?: RestView<T> };

export type ShownType = keyof typeof views;

export const isShown = (type: string): type is ShownType => Object.hasOwn(views, type);
