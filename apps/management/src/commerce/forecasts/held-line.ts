import { anyTargeting, type PlanLineItem, type PlanTargeting } from '@longwave/events';

interface Lists {
  readonly include: string[];
  readonly exclude: string[];
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const anything = (): Lists => ({ include: [], exclude: [] });

/** Everything that one of two lists fits: an empty `include` is any value. */
function eitherLists(a: Lists = anything(), b: Lists = anything()): Lists {
  const open = a.include.length === 0 || b.include.length === 0;
  return {
    include: open ? [] : [...new Set([...a.include, ...b.include])].sort(),
    exclude: a.exclude.filter((value) => b.exclude.includes(value)),
  };
}

/** Everything that one of two targetings fits, dimension by dimension. */
function eitherTargeting(a: PlanTargeting, b: PlanTargeting): PlanTargeting {
  const dimensions = (Object.keys({ ...a, ...b }) as (keyof PlanTargeting)[]).filter(
    (name) => !isSame(a[name], b[name]),
  );
  const widened = dimensions.map((name) => {
    const [one, other] = [a[name], b[name]];
    const isList = [one, other].every(
      (value) => value === undefined || (value !== null && Object.hasOwn(Object(value), 'include')),
    );
    return [
      name,
      isList ? eitherLists(one as Lists | undefined, other as Lists | undefined) : anyTargeting[name],
    ] as const;
  });
  return { ...a, ...Object.fromEntries(widened) };
}

const earlier = (a: string, b: string) => (Date.parse(a) <= Date.parse(b) ? a : b);
const later = (a: string, b: string) => (earlier(a, b) === a ? b : a);

/**
 * What a line item holds while an amendment of it waits: the larger goal, in both windows, of the plays that one of the two fits. So what
 * the amendment was promised is sold to nobody else, and what the line item has until then is not either. Pure.
 */
export function heldLine(now: PlanLineItem, amended: PlanLineItem): PlanLineItem {
  const grows = (amended.goal.quantity ?? 0) >= (now.goal.quantity ?? 0);
  return {
    ...(grows ? amended : now),
    window: {
      start: earlier(now.window.start, amended.window.start),
      end: later(now.window.end, amended.window.end),
    },
    targeting: eitherTargeting(now.targeting, amended.targeting),
    frequency_caps: isSame(now.frequency_caps, amended.frequency_caps) ? now.frequency_caps : [],
  };
}
