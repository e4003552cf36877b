import { createHmac } from 'node:crypto';
import {
  addressKeyBytes,
  classifyPrefixRequest,
  classifyUserAgent,
  keyMonths,
  listenerKey,
  normaliseUserAgent,
  periodSecret,
  type AudienceLists,
  type PrefixJudgement,
  type UserAgentVerdict,
} from '@longwave/audience';
import type { EpisodeRef, MatchRecord } from './match-episode.ts';
import { askedRange, type PrefixRecord } from './prefix-record.ts';

/** What is kept of a record that counts. Its address and user agent end here. */
export interface KeptRequest extends EpisodeRef {
  readonly listenerKey: string;
  readonly startedAtMs: number;
  readonly firstTwo: boolean;
}

/** A record's judgement, from a closed list: `unmatched_url` is of no episode, the others are those of prefix mode. */
export type RecordJudgement = PrefixJudgement | 'unmatched_url';

const maxRemembered = 50_000;

/** A function that remembers its answers, in a bounded memory. */
function remember<T>(answer: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    if (known.size >= maxRemembered) known.clear();
    const fresh = answer(key);
    known.set(key, fresh);
    return fresh;
  };
}

/** Names a secret without telling it: 16 hex digits. */
export const secretName = (secret: Buffer) =>
  createHmac('sha256', secret).update('longwave prefix secret').digest('hex').slice(0, 16);

/**
 * Classifies records and makes pseudonyms of their listeners, with keys that are never those of downloads: requests and downloads cannot
 * be joined (measurement.md D5, D13).
 * @param secret of at least 32 bytes
 */
export function createClassifyRecord(
  lists: AudienceLists,
  match: MatchRecord,
  secret: Buffer,
): (record: PrefixRecord) => { readonly judgement: RecordJudgement; readonly kept: KeptRequest | undefined } {
  const own = createHmac('sha256', secret).update('longwave prefix requests').digest();
  const secretOf = remember((month) => periodSecret(own, month));
  const verdictOf = remember<UserAgentVerdict>((userAgent) => classifyUserAgent(lists.userAgents, userAgent));
  return (record) => {
    const episode = match(record);
    if (episode === undefined) return { judgement: 'unmatched_url', kept: undefined };
    const userAgent = normaliseUserAgent(record.user_agent);
    const judgement = classifyPrefixRequest(
      {
        method: record.method,
        status: record.status,
        range: askedRange(record),
        userAgent,
        prefetch: /\b(prefetch|preview)\b/i.test(record.purpose ?? ''),
        preload: lists.isPreload(record.referer, userAgent),
        // What came as a hash was judged, if at all, by whoever hashed it.
        addressVerdict: record.ip === undefined ? 'ok' : lists.networks.verdict(record.ip),
      },
      verdictOf(userAgent),
    );
    if (judgement !== 'eligible' && judgement !== 'first_two') return { judgement, kept: undefined };
    const address = record.ip === undefined ? Buffer.from(`hash ${record.ip_hash}`) : addressKeyBytes(record.ip);
    const { current } = keyMonths(new Date(record.time));
    return {
      judgement,
      kept: {
        ...episode,
        listenerKey: listenerKey(secretOf(current), address, userAgent),
        startedAtMs: record.time,
        firstTwo: judgement === 'first_two',
      },
    };
  };
}
