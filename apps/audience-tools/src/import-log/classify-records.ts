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
import { requestedRange, type PrefixRecord } from './prefix-record.ts';

/** The part of a counted record that is kept: neither address nor user agent. */
export interface KeptRequest extends EpisodeRef {
  readonly listenerKey: string;
  readonly startedAtMs: number;
  readonly firstTwo: boolean;
}

/** A record's judgement: that of prefix mode, or `unmatched_url` when it is of no known episode. */
export type RecordJudgement = PrefixJudgement | 'unmatched_url';

const maxRemembered = 50_000;

/** Caches the answers of a function in a bounded memory. */
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

/** A name of a secret that does not reveal it: 16 hex digits. */
export const secretName = (secret: Buffer) =>
  createHmac('sha256', secret).update('longwave prefix secret').digest('hex').slice(0, 16);

/**
 * Classifies records and derives pseudonyms of their listeners. These keys are never those of downloads, so requests and downloads cannot
 * be joined (docs/counting.md#importing-other-logs).
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
        range: requestedRange(record),
        userAgent,
        prefetch: /\b(prefetch|preview)\b/i.test(record.purpose ?? ''),
        preload: lists.isPreload(record.referer, userAgent),
        // The network lists cannot match a hashed address: rule 12 is left to whoever hashed it.
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
