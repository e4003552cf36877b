import type { FormType } from '../pages/ads/type-forms.ts';

/** The places of advertising in the rail, by the type whose list each is, with the types whose pages belong to it: that type first. */
export const adPlaceTypes = {
  campaigns: ['campaigns', 'line_items', 'advertisers', 'forecasts', 'makegoods'],
  creatives: ['creatives', 'creative_assignments', 'tracking_endpoints', 'demand_sources'],
  inventory_units: ['inventory_units', 'break_plans', 'products', 'rate_cards', 'traffic_modifiers'],
  serving_plans: ['serving_plans', 'serving_halts'],
  reconciliations: ['reconciliations', 'billing_statements', 'report_definitions', 'report_runs'],
} as const satisfies Readonly<Record<string, readonly FormType[]>>;

/** The roles to which reconciliations and statements are there. Others are told that nothing is. */
export const financeReaders: readonly string[] = ['owner', 'admin', 'trafficker', 'sales', 'finance', 'reviewer'];

/** What the page Setup of a workspace shows. */
export const setupTypes = [
  'policies',
  'authority_grants',
  'machine_keys',
  'workspaces',
] as const satisfies readonly FormType[];
