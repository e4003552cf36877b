import type { DeliveryEventKind } from '@longwave/events';

/** How often a kind can happen while one ad plays once: once, or once for each started stretch of so many seconds of the ad. */
const secondsBetween: Readonly<Record<DeliveryEventKind, 'once' | number>> = {
  loaded: 'once',
  impression: 'once',
  start: 'once',
  first_quartile: 'once',
  midpoint: 'once',
  third_quartile: 'once',
  complete: 'once',
  skip: 'once',
  progress: 1,
  pause: 5,
  resume: 5,
  mute: 5,
  unmute: 5,
  click: 5,
  error: 5,
  companion_view: 5,
};

/** For an ad of unknown length. */
const usualAdMs = 30_000;

/** How many reports of a kind count for one serving; further reports are `excess` (docs/counting.md#what-players-report). */
export function maxEventsOfServing(kind: DeliveryEventKind, adDurationMs = usualAdMs): number {
  const seconds = secondsBetween[kind];
  return seconds === 'once' ? 1 : Math.max(1, Math.ceil(adDurationMs / (seconds * 1000)));
}
