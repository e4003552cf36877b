import type { FormType } from './type-forms.ts';

/** The places of the rail, each with the types whose lists stand together under it. */
const places: readonly (readonly FormType[])[] = [
  ['campaigns', 'line_items', 'advertisers', 'forecasts', 'makegoods'],
  ['creatives', 'creative_assignments', 'tracking_endpoints', 'demand_sources'],
  ['inventory_units', 'break_plans', 'products', 'rate_cards', 'traffic_modifiers'],
  ['serving_plans', 'serving_halts'],
];

/** The types whose lists are linked on that of a type: those of its place, itself among them, then the first of each other place: a narrow window has no room for these in its bar. */
export function neighboursOf(type: string): readonly FormType[] {
  const isOwn = (types: readonly string[]) => types.includes(type);
  const others = places.filter((types) => !isOwn(types)).flatMap(([first]) => (first ? [first] : []));
  return [...(places.find(isOwn) ?? []), ...others, 'review_tasks'];
}
