import type { AuthorityRotation } from './bodies/authority-rotation.ts';
import type { ContentSnapshot } from './bodies/content-snapshot.ts';
import { evidenceRows, type EvidenceRow, type PlatformEvidence } from './bodies/platform-evidence.ts';
import type { SurfaceCapability } from './bodies/surface-capability.ts';
import { rowsDigestOf, sha256Digest } from './digest.ts';
import { maxFieldErrors } from './limits.ts';
import type { Message } from './payload.ts';
import { fieldErrors, pointer, refusal, type FieldError, type Refusal } from './refusal.ts';
import { parseStrictJson } from './strict-json.ts';

export interface SemanticContext {
  /** Id of the key that signed the message. */
  readonly kid: string;
  /** Whether the receiver allows the origin of an address, whatever its scheme; without it every address uses https. */
  readonly allows?: (url: URL) => boolean;
  /** Why the receiver would not fetch an address, in a sentence; undefined when it would. */
  readonly fetchFault?: (url: string) => string | undefined;
}

const error = (path: string, code: string, detail: string): FieldError => ({ path, code, detail });

/** The places of values that stand further in front in a list, too. */
function repeatedIndexes(values: readonly string[]): number[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [index];
    seen.add(value);
    return [];
  });
}

const duplicates = (path: string, values: readonly string[], member?: string): FieldError[] =>
  repeatedIndexes(values).map((index) =>
    error(
      `${path}${pointer(member === undefined ? [index] : [index, member])}`,
      'duplicate',
      'The list has this value already.',
    ),
  );

const isAfter = (time: string, other: string) => Date.parse(time) > Date.parse(other);

/** Errors of an address: it uses https and has neither user nor fragment. */
function urlErrors(path: string, text: string, { allows }: SemanticContext): FieldError[] {
  const url = new URL(text);
  const isAllowed = url.protocol === 'https:' || allows?.(url) === true;
  return [
    ...(isAllowed ? [] : [error(path, 'not_https', 'The address must use https.')]),
    ...(url.username || url.password ? [error(path, 'has_credentials', 'The address must not contain a user.')] : []),
    ...(url.hash ? [error(path, 'has_fragment', 'The address must not contain “#”.')] : []),
  ];
}

/** Errors of the address of a file that the receiver fetches. */
function fileErrors(path: string, text: string, context: SemanticContext): FieldError[] {
  const errors = urlErrors(path, text, context);
  const fault = errors.length === 0 ? context.fetchFault?.(text) : undefined;
  return fault === undefined ? errors : [error(path, 'not_fetchable', fault)];
}

function chapterErrors(
  chapters: NonNullable<ContentSnapshot['episode']['chapters']>,
  durationMs: number,
): FieldError[] {
  return chapters.flatMap(({ start_ms: start }, index) => {
    const path = `/body/episode/chapters/${index}/start_ms`;
    const before = chapters[index - 1]?.start_ms ?? -1;
    return [
      ...(start <= before ? [error(path, 'not_sorted', 'Chapters are sorted by start, one at each time.')] : []),
      ...(start >= durationMs ? [error(path, 'beyond_duration', 'A chapter starts before the episode ends.')] : []),
    ];
  });
}

function snapshotErrors({ episode }: ContentSnapshot, context: SemanticContext): FieldError[] {
  const root = '/body/episode';
  const { captions = [], chapters = [], markers = [], audio_master: audio, video_master: video } = episode;
  type Place = readonly [path: string, url: string | undefined];
  const files: readonly Place[] = [
    ['audio_master/url', audio.url],
    ['video_master/url', video?.url],
    ...captions.map(({ url }, index): Place => [`captions/${index}/url`, url]),
  ];
  const urls: readonly Place[] = [
    ...chapters.map(({ url }, index): Place => [`chapters/${index}/url`, url]),
    ...chapters.map(({ img }, index): Place => [`chapters/${index}/img`, img]),
  ];
  const beyond = markers.flatMap(({ position_ms: position }, index) =>
    position > episode.duration_ms
      ? [error(`${root}/markers/${index}/position_ms`, 'beyond_duration', 'A marker stands inside the episode.')]
      : [],
  );
  return [
    ...files.flatMap(([path, url]) => (url === undefined ? [] : fileErrors(`${root}/${path}`, url, context))),
    ...urls.flatMap(([path, url]) => (url === undefined ? [] : urlErrors(`${root}/${path}`, url, context))),
    ...beyond,
    ...duplicates(
      `${root}/markers`,
      markers.map(({ key }) => key),
      'key',
    ),
    ...chapterErrors(chapters, episode.duration_ms),
    ...duplicates(
      `${root}/captions`,
      captions.map(({ lang }) => lang.toLowerCase()),
      'lang',
    ),
    ...duplicates(`${root}/rights/territories`, episode.rights?.territories ?? []),
  ];
}

function surfaceErrors({ protocols, valid_until: until }: SurfaceCapability, issuedAt: string): FieldError[] {
  const isPast = until !== undefined && !isAfter(until, issuedAt);
  return [
    ...duplicates('/body/protocols', protocols),
    ...(isPast ? [error('/body/valid_until', 'not_after_issue', 'It must be later than issued_at.')] : []),
  ];
}

/**
 * Errors of the rows of platform evidence: each lies in the half-open period, measures something, is the only one of its episode and time,
 * and states revenue only where the evidence has a currency.
 * @param path JSON Pointer of the list
 */
function evidenceRowErrors(
  rows: readonly EvidenceRow[],
  { period, kind }: Pick<PlatformEvidence, 'period' | 'kind'>,
  path: string,
): FieldError[] {
  const [start, end] = [Date.parse(period.start), Date.parse(period.end)];
  const errors = rows.flatMap((row, index) => {
    const at = Date.parse(row.at);
    const place = `${path}/${index}`;
    const isOutside = at < start || at >= end;
    const isForeign = row.revenue_micros !== undefined && kind !== 'revenue';
    return [
      ...(isOutside ? [error(`${place}/at`, 'outside_period', 'A row lies inside the period.')] : []),
      ...(Object.keys(row).length <= 2 ? [error(place, 'nothing_measured', 'A row has at least one measure.')] : []),
      ...(isForeign ? [error(`${place}/revenue_micros`, 'not_revenue', 'Only kind “revenue” has revenue.')] : []),
    ];
  });
  const identities = rows.map((row) => `${Date.parse(row.at)} ${row.source_id}`);
  return [...errors, ...duplicates(path, identities)].slice(0, maxFieldErrors);
}

function evidenceErrors(body: PlatformEvidence, context: SemanticContext): FieldError[] {
  const { period, kind, currency, rows, rows_url: url, rows_digest: digest } = body;
  const errors: FieldError[] = [];
  if (!isAfter(period.end, period.start))
    errors.push(error('/body/period/end', 'empty_period', 'The period ends after it starts.'));
  if ((kind === 'revenue') !== (currency !== undefined))
    errors.push(error('/body/currency', 'currency_mismatch', 'Kind “revenue”, and no other, has a currency.'));
  if ((rows === undefined) === (url === undefined))
    errors.push(error('/body/rows', 'rows_or_url', 'Send either rows or rows_url.'));
  if (url !== undefined) errors.push(...fileErrors('/body/rows_url', url, context));
  if (rows === undefined) return errors;
  if (rowsDigestOf(rows) !== digest)
    errors.push(error('/body/rows_digest', 'digest_mismatch', 'It is not the digest of the rows (RFC 8785).'));
  return [...errors, ...evidenceRowErrors(rows, body, '/body/rows')];
}

function rotationErrors(body: AuthorityRotation, issuedAt: string, { kid }: SemanticContext): FieldError[] {
  const { retire_kid: retired, successor_kid: successor, overlap_until: until } = body;
  const errors: FieldError[] = [];
  if (retired === successor)
    errors.push(error('/body/successor_kid', 'same_key', 'The successor is another key than the retired one.'));
  if (successor !== kid)
    errors.push(error('/body/successor_kid', 'not_the_signer', 'The successor signs the message.'));
  if (!isAfter(until, issuedAt))
    errors.push(error('/body/overlap_until', 'not_after_issue', 'It must be later than issued_at.'));
  return errors;
}

function errorsOf(message: Message, context: SemanticContext): FieldError[] {
  switch (message.schema) {
    case 'content-snapshot/1':
      return snapshotErrors(message.body, context);
    case 'surface-capability/1':
      return surfaceErrors(message.body, message.issued_at);
    case 'platform-evidence/1':
      return evidenceErrors(message.body, context);
    case 'authority-rotation/1':
      return rotationErrors(message.body, message.issued_at, context);
    case 'content-revocation/1':
    case 'delivery-alias/1':
      return [];
  }
}

/**
 * Errors of members that contradict each other (`validation_failed`): none, or at most 50. Nothing is checked here that depends on other
 * messages or on the receiver's clock, such as `supersedes_version` or the existence of a referenced thing.
 */
export const semanticErrors = (message: Message, context: SemanticContext): FieldError[] =>
  errorsOf(message, context).slice(0, maxFieldErrors);

export type EvidenceFileResult =
  | { readonly ok: true; readonly rows: readonly EvidenceRow[] }
  | Refusal<'digest_mismatch' | 'malformed_payload' | 'unknown_field' | 'validation_failed'>;

/** Reads the file behind `rows_url`: a JSON array of rows whose bytes have the digest that the message states. */
export function parseEvidenceFile(
  bytes: Uint8Array,
  evidence: Pick<PlatformEvidence, 'rows_digest' | 'period' | 'kind'>,
): EvidenceFileResult {
  if (sha256Digest(bytes) !== evidence.rows_digest)
    return refusal('digest_mismatch', [error('', 'digest_mismatch', 'The file has another digest than rows_digest.')]);
  const json = parseStrictJson(bytes, { maxDepth: 2 });
  if (!json.ok) return refusal('malformed_payload', [json.fault]);
  const parsed = evidenceRows.safeParse(json.value);
  if (!parsed.success) {
    const { issues } = parsed.error;
    const unknown = issues.filter(({ code }) => code === 'unrecognized_keys');
    return unknown.length > 0
      ? refusal('unknown_field', fieldErrors(unknown, json.value))
      : refusal('validation_failed', fieldErrors(issues, json.value));
  }
  const errors = evidenceRowErrors(parsed.data, evidence, '');
  return errors.length > 0 ? refusal('validation_failed', errors) : { ok: true, rows: parsed.data };
}
