import { crc32 } from 'node:zlib';
import { deliveryFactSchema, factsPublishedSchema, type DeliveryFact } from '@longwave/events';
import { z } from 'zod';

/** A fact that is ready to be published. Its other texts than `json` are free of quotes and backslashes. */
export interface FactLine {
  readonly type: string;
  /** Facts of one listener and episode keep their order. */
  readonly key: string;
  readonly id: string;
  /** The fact, a JSON object. */
  readonly json: string;
  /** Where in a trace it was made; absent outside of traces. */
  readonly traceparent?: string | undefined;
}

const types = {
  byte_range_served: 'byte_range.served',
  user_agent_seen: 'user_agent.seen',
  delivery_event: 'delivery_event.received',
  media_range_served: 'media_range.served',
  track_described: 'track.described',
  playlist_served: 'playlist.served',
  asset_list_served: 'asset_list.served',
} as const satisfies Record<DeliveryFact['kind'], string>;

/** The name that facts of a kind have on the bus, and the key of those about the bytes of an episode. */
export const typeOf = (kind: DeliveryFact['kind']): string => types[kind];
export const listenerKeyOf = (listenerKey: string, episodeId: string): string => `${listenerKey}:${episodeId}`;

/** Facts of one subject keep their order: of a listener and episode, a user agent or a track. */
function keyOf(fact: DeliveryFact): string {
  if (fact.kind === 'user_agent_seen') return fact.user_agent_digest;
  return fact.kind === 'track_described' ? fact.track : listenerKeyOf(fact.listener_key, fact.episode_id);
}

export const toFactLine = (fact: DeliveryFact): FactLine => ({
  type: typeOf(fact.kind),
  key: keyOf(fact),
  id: fact.fact_id,
  json: JSON.stringify(fact),
});

/** Follows all facts of its time in the journal: once it is published, they are. */
const markSchema = factsPublishedSchema.omit({ part: true, parts: true });
export type Mark = z.output<typeof markSchema>;
const markType = 'facts.published';

export const toMarkLine = (mark: Mark): FactLine => ({
  ...{ type: markType, key: mark.producer, id: `${mark.producer}:${mark.until}` },
  json: JSON.stringify(mark),
});

export const isMark = (line: FactLine): boolean => line.type === markType;

/** Throws when the line is no mark. */
export const readMark = ({ json }: FactLine): Mark => markSchema.parse(JSON.parse(json));

const checkOf = (text: string) => crc32(text).toString(16).padStart(8, '0');

/**
 * A line of the journal: the fact itself, behind what publishing needs and a CRC-32 of the rest of the line, so that it is published
 * without being parsed. It is one JSON object, which releases before it read as the fact.
 */
export function encodeLine({ type, key, id, json, traceparent }: FactLine): string {
  const traced = traceparent === undefined ? '' : `"traceparent":"${traceparent}",`;
  const rest = `"type":"${type}","key":"${key}","id":"${id}",${traced}${json.slice(1)}`;
  return `{"check":"${checkOf(rest)}",${rest}`;
}

const shape =
  /^\{"check":"([0-9a-f]{8})",("type":"([^"\\]+)","key":"([^"\\]*)","id":"([^"\\]*)",(?:"traceparent":"([^"\\]*)",)?)/;
const restAt = '{"check":"00000000",'.length;

const earlierLine = z.discriminatedUnion('kind', [...deliveryFactSchema.options, markSchema]);

/** A line of a journal that an earlier release left behind: the fact alone. */
function decodeEarlier(line: string): FactLine | undefined {
  try {
    const fact = earlierLine.parse(JSON.parse(line));
    return fact.kind === 'facts_published' ? toMarkLine(fact) : toFactLine(fact);
  } catch {
    return undefined;
  }
}

/** Undefined for a line that is cut or is not what was written. */
export function decodeLine(line: string): FactLine | undefined {
  const [, check, head, type, key, id, traceparent] = shape.exec(line) ?? [];
  if (check === undefined) return line.startsWith('{"kind":') ? decodeEarlier(line) : undefined;
  if (check !== checkOf(line.slice(restAt))) return undefined;
  const fact = { type: type!, key: key!, id: id!, json: `{${line.slice(restAt + head!.length)}` };
  return traceparent === undefined ? fact : { ...fact, traceparent };
}
