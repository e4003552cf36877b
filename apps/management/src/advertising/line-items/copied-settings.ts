import type { ChangesInput } from '@longwave/command-catalog';
import type { LineItem } from './line-item.ts';

/** Included values in the present form; line items of the first release store a plain list. */
const listed = <L>(lists: L | string[]) => (Array.isArray(lists) ? { include: lists } : lists);

/**
 * The settings of a line item for a new one, without its history. The new one is no makegood for what the old one makes good, because a
 * shortfall is made good once, and other systems do not know it.
 */
export function copiedSettings(
  lineItem: Readonly<LineItem>,
): Omit<ChangesInput<'line_item.create'>, 'campaign_id' | 'window'> {
  const {
    campaign_id: _campaign,
    window: _window,
    makegood_of: _makegood,
    external_ids: _externalIds,
    reserved_until: _reserved,
    paused_from: _paused,
    amendment: _amendment,
    availability: _availability,
    extension_cause: _extended,
    delivered: _delivered,
    state_reason: _reason,
    targeting,
    ...settings
  } = lineItem;
  return {
    ...settings,
    break_positions: [...new Set(settings.break_positions)],
    targeting: {
      ...targeting,
      podcasts: listed(targeting.podcasts),
      episodes: listed(targeting.episodes),
      countries: listed(targeting.countries),
    },
  };
}
