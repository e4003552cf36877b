import type { ResourceRow } from '@longwave/command-pipeline';
import type { IdMap } from './match-items.ts';

type Named = { readonly id: string; readonly externalIds: readonly string[] };

/** What each id stands for: our own for what has it, whatever others are called; another one for all things that have it. */
function meanings(named: readonly Named[]): ReadonlyMap<string, readonly string[]> {
  const map = new Map<string, string[]>();
  for (const { id, externalIds } of named)
    for (const text of new Set(externalIds)) map.set(text, [...(map.get(text) ?? []), id]);
  for (const { id } of named) map.set(id, [id]);
  return map;
}

/**
 * The ids that a source may use: our own, those that line items and creatives have in that source, and IO numbers of campaigns.
 * @param source its name, as external ids have it
 */
export function mapIds(
  source: string,
  known: {
    readonly lineItems: readonly ResourceRow<'line_items'>[];
    readonly campaigns: readonly ResourceRow<'campaigns'>[];
    readonly creatives: readonly ResourceRow<'creatives'>[];
  },
): IdMap {
  const named = ({ id, attributes }: ResourceRow<'line_items'> | ResourceRow<'creatives'>): Named => ({
    id,
    externalIds: (attributes.external_ids ?? []).filter((one) => one.source === source).map((one) => one.id),
  });
  return {
    lineItems: meanings(known.lineItems.map(named)),
    creatives: meanings(known.creatives.map(named)),
    campaigns: meanings(
      known.campaigns.map(({ id, attributes: { io_number: number } }) => ({
        id,
        externalIds: number === undefined ? [] : [number],
      })),
    ),
  };
}
