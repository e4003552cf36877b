import { Window as WireWindow } from '@longwave/rpc/audience';

const windows = {
  calendar_utc: WireWindow.CALENDAR_UTC,
  first_touch_24h: WireWindow.FIRST_TOUCH_24H,
  last_touch_24h: WireWindow.LAST_TOUCH_24H,
} as const;

export type Window = keyof typeof windows;

/** The windows of docs/counting.md. */
export const windowNames = Object.keys(windows) as Window[];

/** How a caller wants downloads counted: in which window, and as known at which time (RFC 3339). */
export interface CountingBasis {
  readonly window?: Window | undefined;
  readonly known_at?: string | undefined;
}

/** The same on the wire; what the caller left out stays out. */
export const wireBasis = ({ window, known_at: knownAt }: CountingBasis) => ({
  window: window && windows[window],
  knownAtMs: knownAt === undefined ? undefined : BigInt(Date.parse(knownAt)),
});
