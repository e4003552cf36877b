import { typedVersion, type Typed } from './exchange-command.ts';
import { nextVersion } from './next-version.ts';

/** Opens the stream of a message, and finds the version of its subject. */
export async function place({ values, connect }: Typed, type: string, sourceId: string) {
  const { exchange } = connect();
  const streamId = values['stream']!;
  const sourceVersion = typedVersion(values['version']) ?? (await nextVersion(exchange, streamId, { type, sourceId }));
  return { stream: await exchange.stream(streamId), sourceVersion };
}
