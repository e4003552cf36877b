import type { ResourceRow } from '@longwave/command-pipeline';
import { anyTargeting, type PlanTargeting, type ServingPlanDocument } from '@longwave/events';
import type { LineItem } from '../line-items/line-item.ts';

interface Lists {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Podcasts and episodes that inventory units cover; a network covers everything. */
export interface Coverage {
  readonly everything: boolean;
  readonly podcasts: readonly string[];
  readonly episodes: readonly string[];
}

type UnitRow = ResourceRow<'inventory_units'>;
const merged = (...lists: readonly (readonly string[])[]) => [...new Set(lists.flat())].sort();

/** The podcasts and episodes that units cover. */
export function coverageOf(units: readonly UnitRow[]): Coverage {
  const of = units.map(({ attributes }) => attributes);
  return {
    everything: of.some(({ kind }) => kind === 'network'),
    podcasts: merged(of.flatMap((unit) => (unit.kind === 'show' ? [unit.source_ref.podcast_id!] : []))),
    episodes: merged(...of.map((unit) => (unit.kind === 'episode_set' ? unit.source_ref.episode_ids! : []))),
  };
}

/** The lists of a dimension; line items of the first release store only the included values. */
const listsOf = (value: Lists | readonly string[] | undefined): Lists =>
  value === undefined ? { include: [], exclude: [] } : 'include' in value ? value : { include: value, exclude: [] };
const sorted = (value: Lists | undefined) => {
  const { include, exclude } = listsOf(value);
  return { include: merged(include), exclude: merged(exclude) };
};

/** The targeted episodes, limited to those of the included sets. */
const narrowed = (episodes: readonly string[], covered: readonly string[]) =>
  covered.length === 0
    ? merged(episodes)
    : merged(episodes.length === 0 ? covered : covered.filter((id) => episodes.includes(id)));

/**
 * A line item's targeting with its inventory units resolved to podcasts and episodes; undefined when no place is left. Only active units
 * include podcasts and episodes; every excluded unit excludes them, whatever its state, and so does every paused unit.
 */
export function resolveTargeting(
  targeting: LineItem['targeting'],
  units: ReadonlyMap<string, UnitRow>,
): PlanTargeting | undefined {
  const inventory = listsOf(targeting.inventory);
  const unitsOf = (ids: readonly string[]) => ids.flatMap((id) => units.get(id) ?? []);
  const included = coverageOf(unitsOf(inventory.include).filter((unit) => unit.lifecycle_state === 'active'));
  const paused = [...units.values()].filter((unit) => unit.lifecycle_state === 'paused');
  const excluded = coverageOf([...unitsOf(inventory.exclude), ...paused]);
  if (excluded.everything) return undefined;

  const podcasts = listsOf(targeting.podcasts);
  const episodes = listsOf(targeting.episodes);
  const nowhere = included.podcasts.length + included.episodes.length + podcasts.include.length === 0;
  if (inventory.include.length > 0 && !included.everything && nowhere) return undefined;
  const podcastIds = included.everything ? [] : merged(podcasts.include, included.podcasts);
  const episodeIds = narrowed(episodes.include, included.everything ? [] : included.episodes);
  if (included.episodes.length > 0 && !included.everything && episodeIds.length === 0) return undefined;

  const { countries, regions, languages, devices, apps, surfaces, content_categories, explicit } = targeting;
  const systems = sorted(targeting.operating_systems);
  return {
    ...anyTargeting,
    podcasts: { include: podcastIds, exclude: merged(podcasts.exclude, excluded.podcasts) },
    episodes: { include: episodeIds, exclude: merged(episodes.exclude, excluded.episodes) },
    countries: sorted(listsOf(countries)),
    regions: sorted(regions),
    languages: sorted(languages),
    devices: sorted(devices),
    // Without this targeting a plan has the same bytes, and so the same digest, as one of an earlier release.
    ...(systems.include.length + systems.exclude.length > 0 && { operating_systems: systems }),
    apps: sorted(apps),
    surfaces: sorted(surfaces),
    content_categories: sorted(content_categories),
    explicit: explicit ?? 'any',
    episode_age_hours: targeting.episode_age_hours ?? {},
    dayparts: targeting.dayparts
      ? { ...targeting.dayparts, hours: [...new Set(targeting.dayparts.hours)].sort((a, b) => a - b) }
      : null,
  };
}

/**
 * Floors by podcast and position, each the highest of its active units; null stands for podcasts without one of their own. A unit's floor of a
 * position takes the place of its general one there.
 */
export function floorsOf(units: Iterable<UnitRow>): ServingPlanDocument['floors'] {
  const floors = new Map<string, ServingPlanDocument['floors'][number]>();
  for (const row of units) {
    const { kind, min_cpm: least, min_cpm_by_position: byPosition = [], source_ref: source } = row.attributes;
    if (row.lifecycle_state !== 'active' || kind === 'episode_set') continue;
    const podcastId = kind === 'show' ? source.podcast_id! : null;
    for (const { position, min_cpm: price } of [{ position: undefined, min_cpm: least }, ...byPosition]) {
      if (!price) continue;
      const key = `${podcastId ?? ''} ${position ?? ''}`;
      const micros = Math.max(floors.get(key)?.min_cpm_micros ?? 0, Number(price.amount_micros));
      // Without positions a plan has the same bytes, and so the same digest, as one of an earlier release.
      floors.set(key, { podcast_id: podcastId, ...(position && { position }), min_cpm_micros: micros });
    }
  }
  return [...floors].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, floor]) => floor);
}
