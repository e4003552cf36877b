import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buildIndex, type PlanIndex } from '@longwave/ad-decision';
import { servingPlanSchema } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';

const maxSizeBytes = 256 * 1024 ** 2;
const maxReadMs = 30_000;

async function readBody(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxSizeBytes) throw new Error(`the stored plan has more than ${maxSizeBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A store that accepts the call and never answers must not stop the search for other plans. */
async function readObject(store: ObjectStore, key: string): Promise<Buffer> {
  let body: Readable | undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${key} does not arrive`)), maxReadMs);
  });
  const read = async () => readBody((body = await store.get(key)));
  return Promise.race([read(), late]).finally(() => {
    clearTimeout(timer);
    body?.destroy();
  });
}

/**
 * Reads `plans/{digest}.json`, whose bytes are the JCS form of the document, and compiles it. Rejects with the reason when the
 * bytes have another digest, or are no valid serving plan of this workspace; with the store's error when it fails.
 */
export async function loadPlan(store: ObjectStore, workspaceId: string, digest: string): Promise<PlanIndex> {
  const bytes = await readObject(store, `plans/${digest}.json`);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== digest) throw new Error(`the stored plan has the digest ${found}`);
  const plan = servingPlanSchema.parse(JSON.parse(bytes.toString('utf8')));
  if (plan.workspace_id !== workspaceId) throw new Error(`the stored plan belongs to ${plan.workspace_id}`);
  return buildIndex(plan);
}
