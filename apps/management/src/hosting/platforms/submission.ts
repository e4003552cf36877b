import type { Attributes, ChangesOf, StateOf } from '@longwave/command-catalog';
import type { ProviderOutcome } from '@longwave/command-pipeline';

export type SubmissionAttributes = Attributes<'platform_submissions'>;
type State = StateOf<'platform_submissions'>;

/** A submission after an outcome. */
interface Next {
  readonly attributes: SubmissionAttributes;
  readonly state: State;
}

const minute = 60_000;
const shortestWaitMs = 5 * minute;
const longestWaitMs = 24 * 60 * minute;

/** When a platform is asked again: after half of the time since the submission, within 5 minutes and a day. */
export function nextRefreshAt(submittedAt: string | undefined, now: Date): string {
  const age = submittedAt === undefined ? 0 : now.getTime() - Date.parse(submittedAt);
  return new Date(now.getTime() + Math.min(longestWaitMs, Math.max(shortestWaitMs, age / 2))).toISOString();
}

/** Without what belongs to a request that has ended. */
function settled({
  attempt: _a,
  problem: _p,
  known: _k,
  absent_at: _b,
  refresh_at: _r,
  ...kept
}: SubmissionAttributes) {
  return kept;
}

/** What an answer that was understood makes of a submission. */
export function afterStatement(
  current: SubmissionAttributes,
  state: State,
  { found, external_id, external_receipt, detail }: ChangesOf<'platform_submission.record'>,
  now: Date,
): Next {
  const { withdrawal, ...rest } = settled(current);
  const answered = { ...rest, external_receipt, ...(external_id !== undefined && { external_id }) };
  const certain = { ...answered, ambiguity: 'none' } as const;
  const waiting = { refresh_at: nextRefreshAt(current.submitted_at, now) };
  switch (found) {
    case 'submitted':
      return { attributes: { ...certain, ...waiting }, state: 'submitted' };
    case 'accepted':
      return { attributes: certain, state: 'accepted' };
    case 'rejected':
      return {
        attributes: { ...certain, problem: { code: 'provider_rejected', detail: detail ?? 'No reason was given.' } },
        state: 'rejected',
      };
    case 'withdrawn':
      return { attributes: { ...certain, ...(withdrawal && { withdrawal }) }, state: 'withdrawn' };
    case 'absent':
      // What was to be taken back is not there.
      if (withdrawal) return { attributes: { ...certain, withdrawal }, state: 'withdrawn' };
      if (state !== 'ambiguous')
        return {
          attributes: {
            ...{ ...answered, ...waiting, ambiguity: 'conflicting' },
            known: 'The platform had taken the submission, and now it has nothing under it.',
          },
          state: 'ambiguous',
        };
      return { attributes: { ...certain, absent_at: now.toISOString() }, state: 'ambiguous' };
    case 'conflicting':
      return {
        attributes: {
          ...{ ...answered, ...waiting, ambiguity: 'conflicting' },
          ...(withdrawal && { withdrawal }),
          ...(detail !== undefined && { known: detail }),
        },
        state: 'ambiguous',
      };
  }
}

/** What a request that came to nothing, or whose outcome is not known, makes of a submission. */
export function afterFailure(
  current: SubmissionAttributes,
  state: State,
  { problem, outcome: said, external_receipt }: ChangesOf<'platform_submission.fail'>,
  now: Date,
): Next {
  const outcome = said ?? (current.attempt ? 'unknown' : 'not_taken');
  const kept = { ...settled(current), ...(external_receipt && { external_receipt }), problem };
  const waiting = { refresh_at: nextRefreshAt(current.submitted_at, now) };
  // A refresh reads: whatever it could not read is as it was.
  const isReading = state === 'ambiguous' || (state === 'submitted' && !current.withdrawal);
  if (isReading && outcome !== 'conflicting')
    return {
      attributes: {
        ...{ ...kept, ...waiting },
        ...(current.known !== undefined && { known: current.known }),
        ...(current.absent_at !== undefined && { absent_at: current.absent_at }),
      },
      state,
    };
  if (outcome === 'unknown' || outcome === 'conflicting')
    return { attributes: { ...kept, ...waiting, ambiguity: outcome, known: problem.detail }, state: 'ambiguous' };
  const { withdrawal: _, ...unchanged } = kept;
  const certain = { ...unchanged, ambiguity: 'none' } as const;
  if (state === 'submitting') return { attributes: certain, state: outcome === 'rejected' ? 'rejected' : 'draft' };
  return { attributes: { ...certain, ...(state === 'submitted' && waiting) }, state };
}

/** What an operation shows of its own request to the platform. */
export const providerOf = (
  { ambiguity }: Pick<SubmissionAttributes, 'ambiguity'>,
  receipt: SubmissionAttributes['external_receipt'],
): ProviderOutcome => ({ external_receipt: receipt?.id ?? null, ambiguity });
