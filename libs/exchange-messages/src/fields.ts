import { z } from 'zod';

/** Milliseconds since 1970 at the beginning of the year 10000, whose text would need five digits. */
const year10000 = 253_402_300_800_000;

/**
 * RFC 3339 instant with an offset (`Z`, `+02:00`, less than 16 hours: PostgreSQL knows no greater one, and the earth has 14), of the years 1970
 * to 9999, to the nanosecond at most.
 */
export const instant = z
  .string()
  .max(40)
  .regex(/^(?:19[7-9]\d|[2-9]\d{3})-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-](?:0\d|1[0-5]):[0-5]\d)$/, {
    error: 'Write a time of RFC 3339 with an offset, such as 2026-11-22T10:00:00Z.',
    abort: true,
  })
  .check(z.iso.datetime({ offset: true, error: 'Write a date and time that exist.' }))
  .refine((text) => Date.parse(text) < year10000, { error: 'Write a time before the year 10000.' });

/** SHA-256 as `sha256:` and lower-case hex. */
export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'Write “sha256:” and 64 lower-case hex digits.');

/** Text of at most `max` UTF-16 units with at least one visible character. */
export const text = (max: number) => z.string().max(max).regex(/\S/, 'Write at least one visible character.');

/** The same on one line. */
export const line = (max: number) => text(max).regex(/^[^\r\n\u2028\u2029]*$/, 'Use one line.');

/** An absolute http or https address in ASCII (RFC 3986); `urlErrors` says which of the two is allowed. */
export const webUrl = z
  .string()
  .max(2000)
  .regex(/^https?:\/\/[\x21-\x7e]+$/, {
    error: 'Write a web address such as https://example.com/episode.mp3, without white space.',
    abort: true,
  })
  .refine((url) => URL.canParse(url), { error: 'Write a web address such as https://example.com/episode.mp3.' });

/** A language tag: language and subtags (RFC 5646). */
export const languageTag = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'Write a language tag such as “en” or “pt-BR”.');

/** A country: ISO 3166-1 alpha-2. */
export const country = z.string().regex(/^[A-Z]{2}$/, 'Write a country such as “DE”.');

/** A currency of ISO 4217. */
export const currency = z
  .string()
  .regex(/^[A-Z]{3}$/, { error: 'Write a currency such as “EUR”.', abort: true })
  .refine((code) => Intl.supportedValuesOf('currency').includes(code), { error: 'This currency is not in ISO 4217.' });

/** Positive numbers of versions and sequences: 1 … 2^53 − 1. */
export const ordinal = z.int().min(1);

/** An id that the sender gives a subject; it stands in addresses without escapes. */
export const sourceId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._~:-]{0,127}$/, 'Use 1 to 128 letters, digits, “.”, “_”, “~”, “:” and “-”.');

/** The sender's name of a surface. */
export const surfaceId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'Use 1 to 64 small letters, digits, “.”, “_” and “-”.');

/** An id that Longwave gave: a prefix and 26 characters. */
export const longwaveId = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{26}$`), `This is not an ID of the form ${prefix}_….`);

/** Id of a machine key, the `kid` of protected headers. */
export const keyId = longwaveId('key');

/** Members that this protocol does not define; the sender's own, kept and never interpreted. */
export const extension = z.record(z.string(), z.unknown());
