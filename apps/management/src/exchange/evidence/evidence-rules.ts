import type { Attributes, productCatalog } from '@longwave/command-catalog';
import { findResource, type Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { holdMessage, messageSourceOf } from '../signed-message.ts';
import { hasReport } from './evidence-table.ts';

type EvidenceRules = Pick<Rules<typeof productCatalog>, 'platform_evidence.accept' | 'platform_evidence.supersede'>;
type Evidence = Attributes<'platform_evidence'>;

/** Whether two reports are revisions of one: of the same source, kind and period. */
function isSameReport(a: Readonly<Evidence>, b: Readonly<Evidence>): boolean {
  const keyOf = ({ authority_id: authority, evidence: { source_label: source, kind, period } }: Readonly<Evidence>) =>
    JSON.stringify([authority, source, kind, Date.parse(period.start), Date.parse(period.end)]);
  return keyOf(a) === keyOf(b);
}

/** Rules of the platform evidence. */
export const evidenceRules: EvidenceRules = {
  'platform_evidence.accept': async (input) => {
    await holdMessage(input);
    const { tx, workspaceId, changes } = input;
    if (await hasReport(tx, workspaceId, changes))
      throw new Problem(
        'value_taken',
        'A report of this source, kind, period and revision was taken already. Send another one as the next revision.',
      );
    return { attributes: { ...messageSourceOf(changes), evidence: changes.evidence } };
  },

  'platform_evidence.supersede': async ({ tx, workspaceId, current, changes }) => {
    const successor = await findResource(tx, workspaceId, 'platform_evidence', changes.successor_id);
    const isLater =
      successor !== undefined &&
      isSameReport(current, successor.attributes) &&
      successor.attributes.evidence.revision > current.evidence.revision;
    if (!isLater) throw new Problem('state_not_allowed', 'That is no later revision of this report.');
    return { attributes: current };
  },
};
