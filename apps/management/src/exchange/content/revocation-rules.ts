import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { holdMessage, messageSourceOf } from '../signed-message.ts';
import { hasMostPendingRevocations, mostPendingRevocations } from '../subject-table.ts';
import { findVersion } from './snapshot-table.ts';
import { refuseState, subjectOfSnapshot } from './snapshot.ts';

type RevocationRules = Pick<Rules<typeof productCatalog>, 'content_revocation.accept' | 'content_revocation.apply'>;

/** Rules of the content revocations. */
export const revocationRules: RevocationRules = {
  'content_revocation.accept': async (input) => {
    const { tx, workspaceId, changes, now } = input;
    await holdMessage(input);
    // One that takes effect at once is always taken.
    const waits = Date.parse(changes.revocation.effective_at) > now.getTime();
    if (waits && (await hasMostPendingRevocations(tx, workspaceId, changes.authority_id, now)))
      throw new Problem(
        'policy_rejected',
        `An authority has at most ${mostPendingRevocations.toLocaleString('en')} revocations that wait for their time. Send this one when it is to take effect.`,
      );
    const subject = subjectOfSnapshot(workspaceId, changes);
    const snapshot = await findVersion(tx, subject, changes.revocation.revoke_version);
    return {
      attributes: {
        ...messageSourceOf(changes),
        revocation: changes.revocation,
        ...(snapshot && { snapshot_id: snapshot.id }),
      },
    };
  },

  'content_revocation.apply': ({ current, changes, now }) => {
    if (Date.parse(current.revocation.effective_at) > now.getTime())
      refuseState('The time of the revocation has not come.');
    return { attributes: { ...current, ...changes } };
  },
};
