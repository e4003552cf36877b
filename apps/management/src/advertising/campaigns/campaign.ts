import type { Attributes } from '@longwave/command-catalog';
import type { Window } from '../line-items/line-item.ts';

export type Campaign = Attributes<'campaigns'>;

/** States of a campaign that has not ended. */
export const openCampaignStates: readonly string[] = [
  'draft',
  'pending_review',
  'declined',
  'approved',
  'active',
  'paused',
];

/** States of a line item that has ended. */
export const endedLineItemStates: readonly string[] = ['completed', 'stopped', 'cancelled', 'archived'];

/**
 * The window of a line item or an assignment in a clone: as far from the clone's start as it was from the original's, cut at the clone's
 * end. One that would begin after the end gets the clone's whole window.
 */
export function movedWindow(window: Window, original: Window, clone: Window): Window {
  const by = Date.parse(clone.start) - Date.parse(original.start);
  const bounds = { start: Date.parse(clone.start), end: Date.parse(clone.end) };
  const start = Math.max(Date.parse(window.start) + by, bounds.start);
  const end = Math.min(Date.parse(window.end) + by, bounds.end);
  if (start >= end) return clone;
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
}
