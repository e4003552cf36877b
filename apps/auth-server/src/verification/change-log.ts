import type { VerificationChanges } from './verification-table.ts';

/** Changes that are remembered; who missed more forgets everything. */
const maxChanges = 1_000;

/** The newest changes that this process has read, in their order. */
export function createChangeLog() {
  let position = 0n;
  /** One for each change up to the position. */
  let accountIds: readonly string[] = [];
  return {
    /** Of the newest change that was read. */
    position: () => position,

    /** Appends what was read after the position. When some of it was removed meanwhile, nothing is known of all changes until then. */
    append: (read: Pick<VerificationChanges, 'position' | 'accountIds'>): void => {
      const isComplete = read.position - position === BigInt(read.accountIds.length);
      if (isComplete && read.accountIds.length === 0) return;
      accountIds = isComplete ? [...accountIds, ...read.accountIds].slice(-maxChanges) : [];
      position = read.position;
    },

    /** The accounts that a process forgets, or everything, when it has heard of every change up to a position. */
    after: (known: bigint) => {
      const missed = position - known;
      const isKnown = missed >= 0n && missed <= BigInt(accountIds.length);
      const touched = isKnown && missed > 0n ? new Set(accountIds.slice(-Number(missed))) : new Set<string>();
      const everything = !isKnown || touched.has('');
      return { position, everything, accountIds: everything ? [] : [...touched] };
    },
  };
}
