/** Its own process, so that its memory can be measured: streams random bytes up and down and prints the digests. */
import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { createObjectStore, type ObjectStoreOptions } from '../src/index.ts';

const { sizeBytes, ...options } = JSON.parse(process.argv[2] ?? '') as ObjectStoreOptions & { sizeBytes: number };
const store = createObjectStore(options);
const sent = createHash('sha256');
const received = createHash('sha256');

function* body() {
  for (let left = sizeBytes; left > 0; left -= 65_536) {
    const chunk = randomBytes(Math.min(left, 65_536));
    sent.update(chunk);
    yield chunk;
  }
}

await store.put('large/object', Readable.from(body()), { contentType: 'audio/wav', sizeBytes });
for await (const chunk of await store.get('large/object')) received.update(chunk as Buffer);
process.stdout.write(
  JSON.stringify({
    sentSha256: sent.digest('hex'),
    receivedSha256: received.digest('hex'),
    maxResidentBytes: process.resourceUsage().maxRSS * 1024,
  }),
);
