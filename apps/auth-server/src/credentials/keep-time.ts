import type { IssuedCredential } from './judge-credential.ts';

/** How long a gateway keeps a principal at most before it asks again, whatever nobody has changed. */
export const maxKeepMs = 5_000;

const useRecordedMs = 60_000;

/** Whether a use is recorded: one a minute, so that most requests write nothing. */
export const isUseDue = ({ lastUsedAt }: Pick<IssuedCredential, 'lastUsedAt'>, now: Date): boolean =>
  lastUsedAt === undefined || now.getTime() - lastUsedAt.getTime() >= useRecordedMs;

/**
 * How long a principal holds in milliseconds if nobody changes anything: until the credential, its trial or one of its grants ends, or a use
 * has to be recorded.
 * @param grantsEndAt when the first of its grants ends
 */
export function keepMsOf(
  credential: Pick<IssuedCredential, 'expires_at' | 'lastUsedAt'> & {
    readonly account: Pick<IssuedCredential['account'], 'subscription'>;
  },
  grantsEndAt: Date | undefined,
  now: Date,
): number {
  const { expires_at: expiresAt, lastUsedAt, account } = credential;
  const { trial_ends_at: trialEndsAt } = account.subscription;
  const ends = [expiresAt, trialEndsAt].flatMap((text) => (text === undefined ? [] : Date.parse(text)));
  if (grantsEndAt) ends.push(grantsEndAt.getTime());
  // One that is due now is recorded now.
  if (lastUsedAt && !isUseDue(credential, now)) ends.push(lastUsedAt.getTime() + useRecordedMs);
  // A time that has passed, as the end of an old trial of a paid plan, changes nothing more.
  const remaining = ends.map((end) => end - now.getTime()).filter((ms) => ms > 0);
  return Math.min(maxKeepMs, ...remaining);
}
