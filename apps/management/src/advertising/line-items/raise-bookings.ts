import type { CommandRule, Decision } from '@longwave/command-pipeline';
import { raiseBookingVersion } from '../../commerce/forecasts/booking-version-table.ts';

const raises =
  (workspaceId: string) =>
  <A>(decision: Decision<A>): Decision<A> => ({
    ...decision,
    also: async (tx, saved) => {
      await decision.also?.(tx, saved);
      await raiseBookingVersion(tx, workspaceId);
    },
  });

/** The same rule; what it decides also raises the version of the workspace's bookings, as its last step. */
export const raisingBookings = <A, C, R>(rule: CommandRule<A, C, R>): CommandRule<A, C, R> =>
  'prepare' in rule
    ? {
        prepare: async (input) => {
          const decide = await rule.prepare(input);
          return async (locked) => raises(locked.workspaceId)(await decide(locked));
        },
      }
    : async (input) => raises(input.workspaceId)(await rule(input));
