import { z } from 'zod';

/** RFC 3339 instant in UTC. */
export const instant = z.iso.datetime();

/** RFC 3339 instant with any offset; the rule stores it in UTC. */
export const instantWithOffset = z.iso.datetime({ offset: true });

/** Half-open window [start, end). */
export const timeWindow = z
  .strictObject({ start: instant, end: instant })
  .refine((window) => Date.parse(window.start) < Date.parse(window.end), {
    message: 'The window ends before it starts.',
  });

/** Text that every store, feed and header can hold: well-formed Unicode without control characters but tab and line ends. */
export const isLegalText = (text: string): boolean =>
  // eslint-disable-next-line no-control-regex -- control characters are what is refused
  text.isWellFormed() && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text);

/** A name a person reads: one line, 1 to 255 characters (PSP-1 bounds feed nodes at 255). */
export const shortText = z
  .string()
  .trim()
  .min(1)
  .max(255)
  .refine((text) => !/[\r\n]/.test(text), { message: 'Use one line.' });

/** Bytes of UTF-8 of a description (PSP-1, description). */
export const maxDescriptionBytes = 4000;
export const longText = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= maxDescriptionBytes, { message: 'At most 4000 bytes are allowed.' });

/** Bytes of UTF-8 of show notes, HTML included. A feed has the whole notes in content:encoded; only its description is bounded. */
export const maxNotesBytes = 100_000;
export const showNotes = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= maxNotesBytes, { message: 'At most 100000 bytes are allowed.' });

/** An id of another resource; the pipeline checks that it exists in the workspace. */
export const reference = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}_[0-9a-z]{26}$`), `This is not an ID of the form ${prefix}_….`);

/** An e-mail address: compared without regard to case, so it is stored in lower case. */
export const emailAddress = z.email().max(255).toLowerCase();

/** A language tag: language and subtags (RFC 5646). */
export const languageTag = z
  .string()
  .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'Write a language tag such as “en” or “pt-BR”.');

/** SHA-256 in lower-case hex. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/**
 * Plays that have begun when audio is removed or replaced: with "stop_new", the default, they finish, at the latest 24 h after they began;
 * with "stop_all" they end within 5 s.
 */
export const stopMode = z
  .enum(['stop_new', 'stop_all'])
  .describe('"stop_new" (default): plays that have begun finish. "stop_all": they end too, within 5 s.');

/** A problem for people: a stable code and a sentence. */
export const foundProblem = z.strictObject({ code: z.string().regex(/^[a-z_]{1,64}$/), detail: z.string().max(1000) });

/** The context of a worker's report: the job and its lease. */
export const leaseReason = z.strictObject({ job_id: z.string(), lease_id: z.string() });

/** A public http(s) address. Parsers of URLs drop line ends and tabs silently (WHATWG URL, 4.4), so these are refused first. */
export const webUrl = z
  .string()
  .refine((text) => !/[\t\r\n]/.test(text), { message: 'Use a web address without line breaks and tabs.', abort: true })
  .check(z.url({ protocol: /^https?$/ }))
  .max(2000);

/** An amount in millionths of its currency, of so many digits at most. */
const micros = (digits: number) =>
  z
    .string()
    .regex(
      new RegExp(`^\\d{1,${digits}}$`),
      'Write millionths of the currency, a whole number as text: “18500000” is 18.50.',
    )
    .describe('Millionths of the currency, a whole number as text: “18500000” is 18.50.');

/** Money: micro-units as text (64 bit), ISO 4217 currency. */
export const money = z.strictObject({
  amount_micros: micros(18),
  currency: z.string().regex(/^[A-Z]{3}$/),
});

/** Price of one counted event, or of a thousand; such sums are safe integers. */
export const unitPrice = money.extend({ amount_micros: micros(15) });

/** Why a person stops or ends something, in a sentence. */
export const cause = z.string().trim().min(1).max(1000);

/** The cause of the present state; the pipeline writes it. */
export const stateReason = cause.optional();

/** Categories of a taxonomy by their ids, such as the IAB Content Taxonomy's ("IAB1-6", "483"). */
export const taxonomyIds = z.array(shortText.max(64)).max(100);

/** Name of a group of competitors; ads of the same group are not played together. */
export const separationGroup = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'Write a name such as “beer”.');

/** A time zone of the IANA database. */
export const timeZone = z
  .string()
  .refine((name) => Intl.supportedValuesOf('timeZone').includes(name) || name === 'UTC', {
    error: 'Write a time zone such as “Europe/Berlin”.',
  });

/** A currency of ISO 4217. */
export const currencyCode = z
  .string()
  .refine((code) => Intl.supportedValuesOf('currency').includes(code), { error: 'Write a currency such as “EUR”.' });
