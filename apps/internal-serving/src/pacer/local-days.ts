import type { LocalDays, NumberedDay } from '@longwave/pacing';
import { daysOf, type Days } from '@longwave/podcast-analytics/zoned-days';

interface Zone {
  readonly days: Days;
  readonly starts: Map<number, number>;
  last: NumberedDay | undefined;
}

/** Calendar days of zones, of 23, 24 or 25 hours; each is computed once. A zone that is not known counts as UTC. */
export function createLocalDays(): LocalDays {
  const zones = new Map<string, Zone>();

  function zoneOf(timeZone: string): Zone {
    let zone = zones.get(timeZone);
    if (!zone) {
      zone = { days: daysIn(timeZone), starts: new Map(), last: undefined };
      zones.set(timeZone, zone);
    }
    return zone;
  }

  function startOf({ days, starts }: Zone, number: number): number {
    let startMs = starts.get(number);
    if (startMs === undefined) starts.set(number, (startMs = days.startMs(number)));
    return startMs;
  }

  function dayAt(timeZone: string, atMs: number): NumberedDay {
    const zone = zoneOf(timeZone);
    if (zone.last && zone.last.startMs <= atMs && atMs < zone.last.endMs) return zone.last;
    const number = zone.days.dayAt(atMs);
    return (zone.last = { number, startMs: startOf(zone, number), endMs: startOf(zone, number + 1) });
  }

  return {
    dayAt,
    daysBetween(timeZone, fromMs, toMs) {
      const found: NumberedDay[] = [];
      const zone = zoneOf(timeZone);
      for (let { number } = dayAt(timeZone, fromMs); ; number++) {
        const day = { number, startMs: startOf(zone, number), endMs: startOf(zone, number + 1) };
        if (day.startMs >= toMs) return found;
        found.push(day);
      }
    },
  };
}

function daysIn(timeZone: string): Days {
  try {
    return daysOf(timeZone);
  } catch {
    return daysOf('UTC');
  }
}
