import type { ProductResource, Resource } from '@longwave/command-catalog';
import { z } from 'zod';
import type { View, ViewContext } from './view.ts';
import { batchEncodingView } from './batch-encoding-view.ts';
import { episodeView } from './episode-view.ts';
import { mediaClipView } from './media-clip-view.ts';
import { podcastView } from './podcast-view.ts';
import { webhookEndpointView } from './webhook-endpoint-view.ts';
import { productionView } from './production-view.ts';

const times = { created_at: z.iso.datetime(), updated_at: z.iso.datetime() };

/** Every resource says when it was created and when its present version was made. */
const withTimes = <T extends ProductResource, V extends View<T>>(view: V & View<T>) => ({
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
  webhook_endpoints: withTimes(webhookEndpointView),
} as const satisfies { readonly [T in ProductResource]?: View<T> };

export type ShownType = keyof typeof views;

export const isShown = (type: string): type is ShownType => Object.hasOwn(views, type);

/** A resource as clients see it. */
interface Shown {
  readonly body: Record<string, unknown>;
  /** The part of `body` that changes without a version of the resource. */
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

/** Resources of one type as clients see them, in their order. */
export async function showResources<T extends ShownType>(
  type: T,
  resources: readonly Resource<T>[],
  context: ViewContext,
): Promise<readonly Shown[]> {
  const viewsByType: { readonly [S in ShownType]: View<S> } = views;
  const view = viewsByType[type];
  const [found, bodies] = await Promise.all([
    view.findFields?.(resources, context),
    Promise.all(resources.map(async (resource) => view.render(resource, context))),
  ]);
  return resources.map((resource, at) => {
    const fields = found?.get(resource.id);
    return { body: { ...bodies[at], ...fields }, fields };
  });
}
