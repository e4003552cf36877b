import type { Resource } from '@longwave/command-catalog';
import { showResources, views, type Asker, type ShownType } from '@longwave/hosting-client';
import { z } from 'zod';
import type { Link, ToolDeps } from '../tool.ts';
import { versionField } from './fields.ts';

const withVersion = <S extends z.ZodObject>(schema: S) => schema.extend(versionField);

/** Resources as tools show them: those of REST API v1, with their version. */
export const objects = {
  podcast: withVersion(views.podcasts.schema),
  episode: withVersion(views.episodes.schema),
  production: withVersion(views.productions.schema),
  media_clip: withVersion(views.media_clips.schema),
} as const;

const always = { id: z.string(), ...versionField };

/** An item of a list: some fields of a resource. */
export const listItem = (schema: z.ZodObject) => z.strictObject({ ...schema.partial().shape, ...always });

/** The names of a resource's fields. */
export const fieldNames = (schema: z.ZodObject) => z.enum(Object.keys(schema.shape));

/** A resource as tools show it. */
interface Shown extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly version: number;
}

/** Items with the named fields only. */
export function chooseFields(items: readonly Shown[], names: readonly string[]): Shown[] {
  const kept = new Set(names);
  return items.map(({ id, version, ...item }) => ({
    ...Object.fromEntries(Object.entries(item).filter(([name]) => kept.has(name))),
    id,
    version,
  }));
}

/** Resources of one type as tools show them. */
export async function showAll<T extends ShownType>(
  type: T,
  resources: readonly Resource<T>[],
  caller: Asker,
  { views: deps }: ToolDeps,
): Promise<Shown[]> {
  const shown = await showResources(type, resources, { caller, deps });
  return resources.map(({ id, version }, at) => ({ ...shown[at]!.body, id, version }));
}

/** One resource as tools show it. */
export const show = async <T extends ShownType>(
  type: T,
  resource: Resource<T>,
  caller: Asker,
  deps: ToolDeps,
): Promise<Shown> => (await showAll(type, [resource], caller, deps))[0]!;

/** The links of podcasts and episodes. */
export const linksOf = (resources: readonly Resource<'podcasts' | 'episodes'>[]): Link[] =>
  resources.map(({ resource_type: type, id, attributes: { title } }) => ({
    uri: `${type === 'podcasts' ? 'podcast' : 'episode'}:///${id}`,
    name: title,
  }));
