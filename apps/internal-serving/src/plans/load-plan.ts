import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buildIndex, type PlanIndex } from '@longwave/ad-decision';
import { planPoliciesKey, planPoliciesSchema, servingPlanSchema, type PlanPolicy } from '@longwave/events';
import type { ObjectStore } from '@longwave/object-store';
import { listPacedLines, type PlannedLine } from './paced-lines.ts';

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

/** Reads a document in JCS form. Rejects when its bytes have another digest. */
async function readDocument(store: ObjectStore, key: string, digest: string, what: string): Promise<unknown> {
  const bytes = await readObject(store, key);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== digest) throw new Error(`the stored ${what} has the digest ${found}`);
  return JSON.parse(bytes.toString('utf8'));
}

async function readPolicies(store: ObjectStore, workspaceId: string, digest: string): Promise<readonly PlanPolicy[]> {
  const document = planPoliciesSchema.parse(await readDocument(store, planPoliciesKey(digest), digest, 'policies'));
  if (document.workspace_id !== workspaceId) throw new Error(`the policies belong to ${document.workspace_id}`);
  return document.policies;
}

/** The digests of a plan's document and of its policies; without policies it has no second one. */
export interface PlanDigests {
  readonly digest: string;
  readonly policiesDigest: string | undefined;
}

export interface LoadedPlan {
  readonly index: PlanIndex;
  readonly paced: readonly PlannedLine[];
}

/**
 * Reads `plans/{digest}.json`, whose bytes are the JCS form of the document, and its policies, and compiles both. Rejects with the reason
 * when bytes have another digest, or are no valid serving plan and policies of this workspace; with the store's error when it fails.
 */
export async function loadServingPlan(
  store: ObjectStore,
  workspaceId: string,
  { digest, policiesDigest }: PlanDigests,
): Promise<LoadedPlan> {
  const plan = servingPlanSchema.parse(await readDocument(store, `plans/${digest}.json`, digest, 'plan'));
  if (plan.workspace_id !== workspaceId) throw new Error(`the stored plan belongs to ${plan.workspace_id}`);
  const policies = policiesDigest === undefined ? [] : await readPolicies(store, workspaceId, policiesDigest);
  return { index: buildIndex(plan, policies), paced: listPacedLines(plan) };
}

/** The compiled plan alone. */
export const loadPlan = async (...args: Parameters<typeof loadServingPlan>): Promise<PlanIndex> =>
  (await loadServingPlan(...args)).index;
