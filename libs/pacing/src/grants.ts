import { splitWhole } from './largest-remainder.ts';

/** Units of a line item that a node may give, as its row has them; a node without a row has neither. */
export interface NodeLease {
  readonly granted: number;
  readonly used: number;
  /** Of the line item's demand; those of all nodes sum to 1. 0 for a node that is gone: its lease is only lowered. */
  readonly share: number;
}

export interface GrantInput {
  /** The most that all open leases together may have been granted, or less than they have. */
  readonly maxGranted: number;
  /** Units for the runway, for all nodes together. */
  readonly quota: number;
  /** All that are not counted as closed, in the order that the answers have. */
  readonly leases: readonly NodeLease[];
}

/** What a node should hold at least, so that two plays that come together find a unit each. */
const leastHeld = 3;
/** A lease is raised when it holds less than this part of what it should. */
const lowShare = 0.5;
/** A lease that holds so many times what it should is lowered, though nobody needs it. */
const highFactor = 2;

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** What each node should hold besides what it used: its share of the quota, or of what the bound leaves where that is less. */
function holdings({ maxGranted, quota, leases }: GrantInput): readonly number[] {
  const wanted = leases.map(({ share }) =>
    quota <= 0 || share === 0 ? 0 : Math.max(leastHeld, Math.ceil(share * quota)),
  );
  const spare = Math.max(0, Math.floor(maxGranted) - sumOf(leases.map(({ used }) => used)));
  if (sumOf(wanted) <= spare) return wanted;
  const shares = leases.map(({ share }) => share);
  return splitWhole(spare, shares);
}

/** How many units a lease lacks, once it has run low. */
function lacking({ granted, used }: NodeLease, held: number): number {
  const holds = granted - used;
  return holds >= held || holds > held * lowShare ? 0 : held - holds;
}

const roomOf = ({ maxGranted, leases }: GrantInput) =>
  Math.floor(maxGranted) - sumOf(leases.map(({ granted }) => granted));

/**
 * To what each lease is to be lowered, or undefined: unused units that are beyond the bound, that other nodes lack, or that are far more
 * than the node should hold. The row itself keeps what its node has used by then.
 */
export function lowerGrants(input: GrantInput): readonly (number | undefined)[] {
  const held = holdings(input);
  const room = roomOf(input);
  const isNeeded = room < 0 || sumOf(input.leases.map((lease, at) => lacking(lease, held[at]!))) > room;
  return input.leases.map(({ granted, used }, at) => {
    const goal = used + held[at]!;
    const isFar = granted - used > highFactor * held[at]! + leastHeld;
    return granted > goal && (isNeeded || isFar) ? goal : undefined;
  });
}

/**
 * To what each lease is to be raised, or undefined, with the rows as they are after lowering. The raised leases and the others together
 * never have more than `maxGranted`.
 */
export function raiseGrants(input: GrantInput): readonly (number | undefined)[] {
  const held = holdings(input);
  let room = roomOf(input);
  return input.leases.map((lease, at) => {
    const more = Math.min(Math.max(0, room), lacking(lease, held[at]!));
    room -= more;
    return more === 0 ? undefined : lease.granted + more;
  });
}
