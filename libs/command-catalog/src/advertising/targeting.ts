import { z } from 'zod';
import { reference } from '../fields.ts';

/** Empty `include` means any; `exclude` wins over `include`. */
const inOrOut = (value: z.ZodString, max = 1000) => {
  const list = z.array(value).max(max).default([]);
  return z.strictObject({ include: list, exclude: list });
};
const anything = { include: [], exclude: [] };

const word = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(/^[^\r\n]+$/);

const country = z.string().regex(/^[A-Z]{2}$/, 'Write an ISO 3166-1 code such as “DE”.');
const region = z.string().regex(/^[A-Z]{2}-[A-Z0-9]{1,3}$/, 'Write an ISO 3166-2 code such as “US-CA”.');
const primaryLanguage = z.string().regex(/^[a-z]{2,3}$/, 'Write a language code such as “en”.');

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const dayparts = z.strictObject({
  /** An IANA zone; hours are those of its clocks. */
  time_zone: z.string().max(64).refine(isTimeZone, { message: 'Write an IANA time zone such as “Europe/Berlin”.' }),
  /** Hours of the week that may serve, 0 = Monday 00:00. */
  hours: z.array(z.int().min(0).max(167)).min(1).max(168),
});

const dimensions = {
  /** Inventory units; the compiler of plans adds the podcasts and episodes that they cover. */
  inventory: inOrOut(reference('inv')).default(anything),
  podcasts: inOrOut(reference('pod')).default(anything),
  episodes: inOrOut(reference('ep')).default(anything),
  countries: inOrOut(country, 250).default(anything),
  regions: inOrOut(region).default(anything),
  languages: inOrOut(primaryLanguage, 200).default(anything),
  devices: inOrOut(word, 100).default(anything),
  operating_systems: inOrOut(word, 100).default(anything),
  apps: inOrOut(word).default(anything),
  surfaces: inOrOut(word, 20).default(anything),
  content_categories: inOrOut(word).default(anything),
  explicit: z.enum(['any', 'only', 'none']).default('any'),
  /** Hours since publication, half-open; an absent bound is open. */
  episode_age_hours: z
    .strictObject({ min: z.int().min(0).optional(), max: z.int().min(1).optional() })
    .refine(({ min = 0, max }) => max === undefined || min < max, { message: 'The age ends before it begins.' })
    .default({}),
  dayparts: dayparts.nullable().default(null),
};

/** Targeting of a line item; an absent dimension has no restriction. */
export const targeting = z.strictObject(dimensions);

const earlier = z.array(z.string());

/** Stored targeting; line items of the first release have a plain list of included values in three dimensions. */
export const storedTargeting = z.strictObject({
  ...dimensions,
  podcasts: z.union([dimensions.podcasts, earlier]),
  episodes: z.union([dimensions.episodes, earlier]),
  countries: z.union([dimensions.countries, earlier]),
});
