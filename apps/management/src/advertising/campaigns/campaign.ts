import type { Attributes } from '@longwave/command-catalog';
import type { Window } from '../line-items/line-item.ts';

export type Campaign = Attributes<'campaigns'>;

/** States in which something may still happen to a campaign. */
export const openCampaignStates: readonly string[] = [
  'draft',
  'pending_review',
  'declined',
  'approved',
  'active',
  'paused',
];

/** States in which nothing happens to a line item any more. */
export const endedLineItemStates: readonly string[] = ['completed', 'stopped', 'cancelled', 'archived'];

/**
 * The window that a line item or an assignment has in a clone: as far from the clone's start as it was from the original's, and never
 * beyond its end. What would begin after the end gets the whole window.
 */
export function movedWindow(window: Window, original: Window, clone: Window): Window {
  const by = Date.parse(clone.start) - Date.parse(original.start);
  const bounds = { start: Date.parse(clone.start), end: Date.parse(clone.end) };
  const start = Math.max(Date.parse(window.start) + by, bounds.start);
  const end = Math.min(Date.parse(window.end) + by, bounds.end);
  if (start >= end) return clone;
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
}
