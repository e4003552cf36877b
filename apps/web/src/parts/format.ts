/** How an instant is shown: the day; the day with the time; the time alone. */
export type TimeForm = 'day' | 'moment' | 'hour';

const forms: Readonly<Record<TimeForm, Intl.DateTimeFormatOptions>> = {
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  moment: { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  hour: { hour: '2-digit', minute: '2-digit' },
};

/** Where and for whom times are shown: an IANA zone and a BCP 47 language. */
export interface TimePlace {
  readonly zone: string;
  readonly language: string;
}

/** The tag that `Intl` is asked with. British English has the day before the month and 24 hours, as all other texts of the console. */
export const localeOf = (language: string) => (language === 'en' ? 'en-GB' : language);

/** An instant (ISO 8601) in words of a language, in a zone: `14 Nov 2026, 06:00`. */
export const instantText = (instant: string, form: TimeForm, { zone, language }: TimePlace): string =>
  new Intl.DateTimeFormat(localeOf(language), { ...forms[form], timeZone: zone }).format(new Date(instant));

/** The same in UTC, exact to the second, for whoever points at it: `2026-11-14 05:00:00 UTC`. */
export const utcText = (instant: string): string =>
  `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The name of a zone for people, without its continent: `Berlin`. */
export const zoneName = (zone: string): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ');

/** A length in milliseconds as players show it: `48:12`, `1:03:20`. */
export function lengthText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, ...rest] = parts;
  const [minutes = 0, last = 0] = rest;
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(last)}` : `${minutes}:${two(last)}`;
}

/** The same for a screen reader and for texts: `48 minutes 12 seconds`. */
export function spokenLength(ms: number, language: string): string {
  const seconds = Math.round(ms / 1000);
  const units = [
    ['hour', Math.floor(seconds / 3600)],
    ['minute', Math.floor(seconds / 60) % 60],
    ['second', seconds % 60],
  ] as const;
  const said = units.filter(([, value]) => value > 0);
  const shown = said.length > 0 ? said : [['second', 0] as const];
  const text = ([unit, value]: readonly [string, number]) =>
    new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long' }).format(value);
  return shown.map(text).join(' ');
}

/** Hours of a length, for what is counted in hours: `99.2`. */
export const hoursText = (ms: number, language: string): string =>
  new Intl.NumberFormat(localeOf(language), { maximumFractionDigits: ms < 36_000_000 ? 1 : 0 }).format(ms / 3_600_000);

/** A whole number with the separators of a language. */
export const numberText = (value: number, language: string): string =>
  new Intl.NumberFormat(localeOf(language)).format(value);

/** A minus is as wide as a plus; Intl writes a hyphen in some languages. */
const withMinus = (text: string) => text.replace('-', '−');

/** A change as a share, always with its sign: `+16.2%`. */
export const changeText = (share: number, language: string): string => {
  const options = { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' } as const;
  return withMinus(new Intl.NumberFormat(localeOf(language), options).format(share));
};

/** A share of a whole: `40.6%`. */
export const shareText = (share: number, language: string): string =>
  new Intl.NumberFormat(localeOf(language), { style: 'percent', maximumFractionDigits: 1 }).format(share);

/** A level in decibels with one digit: `−16.0`. */
export const levelText = (level: number, language: string): string => {
  const options = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return withMinus(new Intl.NumberFormat(localeOf(language), options).format(level));
};

/** A name of our own that is written small, as of a plan, at the beginning of a text: `Network`. */
export const capitalized = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** A size in bytes as people say it: `46.3 MB`. */
export function sizeText(bytes: number, language: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** step;
  const maximumFractionDigits = value < 100 && step > 0 ? 1 : 0;
  const options = { style: 'unit', unit: units[step] ?? 'byte', unitDisplay: 'short', maximumFractionDigits } as const;
  return new Intl.NumberFormat(localeOf(language), options).format(value);
}

/** The name of a language in a language: `German` for `de`; the tag itself where it has no name. */
export const languageName = (tag: string, language: string): string => {
  try {
    return new Intl.DisplayNames(language, { type: 'language' }).of(tag) ?? tag;
  } catch {
    return tag;
  }
};
