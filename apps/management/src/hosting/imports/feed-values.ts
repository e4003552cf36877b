import { appleCategories } from '@longwave/command-catalog';
import { formerCategories } from './former-categories.ts';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** RFC 822 §5.1; other names are read as UTC. */
const zoneHours: Readonly<Record<string, number>> = {
  EST: -5,
  EDT: -4,
  CST: -6,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
};

const rfc2822 =
  /^(?:[a-z]+,?\s+)?(\d{1,2})[\s-]+([a-z]{3})[a-z]*\.?[\s-]+(\d{4}|\d{2})(?:\s+(\d{1,2}):(\d{2})(?::(\d{2}))?)?(?:\s*(?:(?:GMT|UTC?)?([+-])(\d{2}):?(\d{2})|(?![ap]m$)([a-z]{1,5})))?$/i;
const iso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

const maxCharacters = 200;

/** Text without comments, which may hold others (RFC 2822 §3.2.3). */
function withoutComments(text: string): string {
  for (let rest = text; ;) {
    const shorter = rest.replace(/\([^()]*\)/g, ' ');
    if (shorter === rest) return rest.trim();
    rest = shorter;
  }
}

/** A date in another order needs a month by name, a year and a time; numbers alone are ambiguous. */
const recognizable = [
  new RegExp(`(?:^|[^a-z])(?:${months.join('|')})[a-z]*[^a-z]`, 'i'),
  /(?:^|\D)\d{4}(?:\D|$)/,
  /(?:^|\D)\d{1,2}:\d{2}(?:\D|$)/,
];
const zoned = /(?:^|[^a-z])(?:GMT|UTC?|Z|[ECMP][SD]T)(?:[^a-z]|$)|\s[+-]\d{2}:?\d{2}(?:\D|$)/i;

/** Dates such as "Wed Oct 21 07:28:00 2015" and "Oct 21, 2015 7:28 PM EST", in UTC unless they name a zone. */
const parseOtherDate = (text: string): number =>
  recognizable.every((part) => part.test(text)) ? Date.parse(zoned.test(text) ? text : `${text} UTC`) : Number.NaN;

/**
 * A date of RFC 2822 §3.3, of RFC 3339 or in a form that publishing tools print; undefined for other text, such as "yesterday".
 */
export function parseFeedDate(text = ''): Date | undefined {
  if (text.length > maxCharacters) return undefined;
  const trimmed = withoutComments(text.trim());
  const valid = (ms: number) => (Number.isNaN(ms) ? undefined : new Date(ms));
  if (iso.test(trimmed)) {
    const hasZone = /(?:Z|[+-]\d{2}:?\d{2})$/.test(trimmed.slice(10));
    return valid(Date.parse(trimmed.replace(' ', 'T') + (hasZone || trimmed.length === 10 ? '' : 'Z')));
  }
  const match = rfc2822.exec(trimmed);
  if (!match) return valid(parseOtherDate(trimmed));
  const [, day, name, year, hour = '0', minute = '0', second = '0', sign, zoneHour, zoneMinute, zone = ''] = match;
  const month = months.indexOf(name!.toLowerCase());
  const fullYear = year!.length === 2 ? Number(year) + (Number(year) < 50 ? 2000 : 1900) : Number(year);
  if (month < 0 || Number(day) < 1 || Number(day) > 31 || Number(hour) > 24) return undefined;
  const offsetMinutes = sign
    ? (sign === '-' ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute))
    : (zoneHours[zone.toUpperCase()] ?? 0) * 60;
  return valid(
    Date.UTC(fullYear, month, Number(day), Number(hour), Number(minute), Number(second)) - offsetMinutes * 60_000,
  );
}

/** itunes:explicit in all its historic forms. */
export function parseExplicit(text: string | undefined): boolean | undefined {
  const word = (text ?? '').trim().toLowerCase();
  if (['yes', 'true', 'explicit'].includes(word)) return true;
  return ['no', 'false', 'clean'].includes(word) ? false : undefined;
}

/** A whole number of at least 1, as in itunes:season. */
export function parseOrdinal(text: string | undefined): number | undefined {
  const match = /^\s*(\d{1,6})\s*$/.exec(text ?? '');
  return match && Number(match[1]) >= 1 ? Number(match[1]) : undefined;
}

/** Seconds with a fraction, as Podcasting 2.0 writes times. */
export function parseSeconds(text: string | undefined): number | undefined {
  return /^\s*\d{1,7}(\.\d+)?\s*$/.test(text ?? '') ? Number(text) : undefined;
}

const listed = new Map(appleCategories.map((name) => [name.toLowerCase(), name]));

/** Apple's present name of a category, or that of its parent for an unknown subcategory; undefined for an unknown parent. */
export function mapCategory(parent: string, child?: string): (typeof appleCategories)[number] | undefined {
  const tidy = (text: string) => text.trim().replace(/\s+/g, ' ').toLowerCase();
  const findCategory = (name: string) =>
    listed.get(name) ?? (Object.hasOwn(formerCategories, name) ? formerCategories[name] : undefined);
  return (child !== undefined && findCategory(`${tidy(parent)} > ${tidy(child)}`)) || findCategory(tidy(parent));
}
