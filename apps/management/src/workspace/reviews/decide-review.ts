import { productCatalog } from '@longwave/command-catalog';
import { actorId, listByIds, type DecideReview, type ReviewQuestion } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { listRoleHolders } from '../people/people-table.ts';
import { partiesOf } from './parties.ts';
import { listPoliciesInForce } from '../policies/policies-in-force.ts';
import { requiredReview, reviewAmong, stricterReview } from './required-review.ts';
import { asksForCategories, reviewDemand } from './review-policy.ts';
import { categoriesOf } from './product-categories.ts';

/** Whether the command submits an ad that a host reads. */
const isHostRead = ({ definition: { type }, current }: ReviewQuestion) =>
  type === 'creative.submit' && current?.['production'] === 'host_read';

const { reviewers: billingReviewers } = productCatalog.commands['billing_statement.issue'];

/** Whether the command charges without a closed reconciliation, which two others approve. */
const waivesReconciliation = ({ definition: { type }, changes }: ReviewQuestion) =>
  type === 'billing_statement.generate' && changes['waive_reconciliation'] !== undefined;

/** Who approves that more is sold than is left, or for less than a floor. */
const sellingReviewers = ['reviewer', 'admin'] as const;

/** Whether the command promises slots that are not left, which two others approve. */
const overbooks = ({ changes }: ReviewQuestion) => changes['allow_overbook'] === true;

/** Whether the command books below a floor, which another person approves. */
const sellsBelowFloor = ({ changes }: ReviewQuestion) => changes['allow_below_floor'] === true;

/** The command with the review that its content asks for. */
function asReviewed(question: ReviewQuestion): ReviewQuestion['definition'] {
  if (isHostRead(question)) return { ...question.definition, review: 'host' };
  if (overbooks(question)) return { ...question.definition, review: 'dual', reviewers: sellingReviewers };
  if (sellsBelowFloor(question)) return { ...question.definition, review: 'single', reviewers: sellingReviewers };
  return waivesReconciliation(question)
    ? { ...question.definition, review: 'dual', reviewers: billingReviewers }
    : question.definition;
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

/**
 * The podcast whose publishers review: the one that a break plan is for, undefined when it is for several or for all; the one whose host
 * reads an ad; and the one whose episode is on a platform.
 */
async function podcastOf(
  tx: Transaction,
  { definition, workspaceId, current, changes }: ReviewQuestion,
): Promise<string | undefined> {
  if (definition.type === 'creative.submit') return textOf({ ...current, ...changes }['host_podcast_id']);
  if (definition.subject === 'platform_submissions') return textOf(current?.['podcast_id']);
  if (definition.subject !== 'break_plans') return undefined;
  const ids = current?.['inventory_unit_ids'];
  const unitIds = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
  const units = await listByIds(tx, workspaceId, 'inventory_units', unitIds);
  const podcasts = new Set(units.map(({ attributes }) => attributes.source_ref.podcast_id));
  return podcasts.size === 1 ? [...podcasts][0] : undefined;
}

/**
 * Decides about a review by the built-in policy, the review policies in force and the people of the workspace (docs/adr/0040). Of the built-in
 * review and the one that policies demand the one counts that is stricter among these people.
 */
export const decideReview: DecideReview = async (tx, question) => {
  const { definition, workspaceId, actor, changes, now } = question;
  const policies = await listPoliciesInForce(tx, workspaceId, ['review']);
  const attributes = { ...question.current, ...changes };
  const asked = asksForCategories(policies, definition.type);
  const categories = asked ? await categoriesOf(tx, question, attributes) : [];
  const demand = reviewDemand(policies, definition.type, attributes, categories);
  const builtIn = requiredReview(asReviewed(question));
  const { declared } = builtIn;
  if (builtIn.mode === 'none' && !demand) return { declared, applied: 'none', requiredRoles: builtIn.roles };
  const podcastId = declared === 'host' ? await podcastOf(tx, question) : undefined;
  const holders = await listRoleHolders(tx, workspaceId, now);
  const requester = actor.kind === 'principal' ? [actorId(actor), actor.principal.account_id] : [];
  const { subjectId } = question;
  const parties = await partiesOf(tx, { workspaceId, commandType: definition.type, subjectId, changes });
  const except = [...requester, ...parties];
  const demanded = demand && reviewAmong({ ...demand, declared: demand.mode }, undefined, { holders, except });
  const { dueHours, policyVersions } = demand ?? {};
  const applied = stricterReview(reviewAmong(builtIn, podcastId, { holders, except }), demanded);
  return { declared, ...applied, dueHours, policyVersions };
};
