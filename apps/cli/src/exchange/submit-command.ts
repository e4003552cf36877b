import type { ExchangeClient, MessageResult, SignedMessage } from '@longwave/exchange-client';
import type { ExchangeCommand } from './exchange-command.ts';
import { tell } from './tell.ts';
import { readSigned } from './signed-lines.ts';

/** Digests of the accepted messages of a stream, by their places, from a place on. */
async function acceptedFrom(exchange: ExchangeClient, streamId: string, from: number): Promise<Map<number, string>> {
  const accepted = new Map<number, string>();
  if (!(await exchange.head(streamId))) return accepted;
  for await (const { sequence, digest } of exchange.messages(streamId, from - 1)) accepted.set(sequence, digest);
  return accepted;
}

/**
 * Of kept messages of one stream, those that may be sent: one for each place, in order. A message that was refused, or never arrived, has
 * lost its place to another one: sending it again would look like a second sender with the same key.
 */
async function sendable(exchange: ExchangeClient, streamId: string, kept: readonly SignedMessage[]) {
  const places = Map.groupBy(kept, ({ sequence }) => sequence);
  const accepted = await acceptedFrom(exchange, streamId, Math.min(...places.keys()));
  return [...places.entries()]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([sequence, candidates]) => {
      const digest = accepted.get(sequence) ?? candidates.at(-1)!.digest;
      const found = candidates.find((each) => each.digest === digest);
      if (!found) tell(`${streamId}, message ${sequence}: another one was accepted in this place. It is not sent.`);
      return found ? [found] : [];
    });
}

export const submitCommand: ExchangeCommand = {
  name: 'submit',
  words: ['FILE.jsonl'],
  summary:
    'sends signed messages again, unchanged: lines that --keep or “export” wrote. Those that were accepted answer with their first receipts',
  options: {},
  needed: [],
  reads: 'connection and key',
  run: async ({ words, connect }) => {
    const kept = readSigned(words[0]!);
    const { exchange } = connect();
    const results: MessageResult[] = [];
    for (const [streamId, messages] of Map.groupBy(kept, (each) => each.streamId)) {
      const stream = await exchange.stream(streamId);
      results.push(...(await stream.submit(await sendable(exchange, streamId, messages))));
    }
    return results;
  },
};
