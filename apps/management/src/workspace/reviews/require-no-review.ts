import { productCatalog } from '@longwave/command-catalog';
import type { ReviewQuestion } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { decideReview } from './decide-review.ts';

/**
 * Throws `policy_rejected` when a worker of management submits a creative of its own accord and a review policy demands a review: a service waits
 * for nobody, so a person submits it. Commands that a review has approved are carried out.
 */
export async function requireNoReview(tx: Transaction, question: Omit<ReviewQuestion, 'definition'>): Promise<void> {
  const { actor } = question;
  if (actor.kind !== 'service' || actor.name !== 'management' || actor.requestedBy !== undefined) return;
  const { applied } = await decideReview(tx, { ...question, definition: productCatalog.commands['creative.submit'] });
  if (applied === 'none') return;
  throw new Problem('policy_rejected', 'A review policy demands a review of this creative. Submit it as a person.');
}
