import { listDue, type Due, type DueQuestion } from '@longwave/command-pipeline';
import type { DueTask } from '../../background/due-task.ts';
import type { CountConfirmed } from './count-confirmed.ts';
import { listCountedFlights, listDueStarts, listEndedExtensions } from './flight-table.ts';

type FlightCommand =
  'line_item.start_flight' | 'line_item.end_flight' | 'line_item.expire_reservation' | 'line_item.apply_amendment';

const lineItemTask = (name: string, command: FlightCommand, findDue: DueTask['findDue']): DueTask<FlightCommand> => ({
  name,
  findDue,
  command,
  changes: () => ({}),
});

const due =
  (question: Omit<DueQuestion<'line_items'>, 'type'>): DueTask['findDue'] =>
  (pool, now, limit) =>
    listDue(pool, { type: 'line_items', ...question }, now, limit);

const startFlight = lineItemTask('start-flight', 'line_item.start_flight', listDueStarts);

const endFlight = lineItemTask(
  'end-flight',
  'line_item.end_flight',
  due({ states: ['delivering'], at: ['window', 'end'], eachVersion: true }),
);

/** An extended line item ends with its campaign. */
const endExtension = lineItemTask('end-extension', 'line_item.end_flight', listEndedExtensions);

const expireReservation = lineItemTask(
  'expire-reservation',
  'line_item.expire_reservation',
  due({ states: ['reserved'], at: ['reserved_until'] }),
);

const applyAmendment = lineItemTask(
  'apply-amendment',
  'line_item.apply_amendment',
  due({
    states: ['booked', 'delivering', 'delivery_extended', 'paused'],
    at: ['amendment', 'effective_at'],
    eachVersion: true,
  }),
);

/** The clock's tasks for line items that do not depend on delivery. */
export const flightTasks: readonly DueTask[] = [
  startFlight,
  endFlight,
  endExtension,
  expireReservation,
  applyAmendment,
];

/** Flights of one poll, and the pause after a poll of the last flights. */
const maxFlights = 50;
const pauseMs = 15_000;

/**
 * Completes flights whose goal is reached, by the servings that the sink has counted in their basis: one that several listeners behind one
 * address hear counts once. Each flight is counted about every 15 seconds. That is often enough: decisions stop at the goal by themselves,
 * so nothing is delivered meanwhile.
 */
export function reachGoals(countConfirmed: CountConfirmed): DueTask<'line_item.complete'> {
  let after = '';
  let pausedUntil = 0;
  const confirmed = new Map<string, number>();
  return {
    name: 'reach-goal',
    findDue: async (pool, now) => {
      if (now.getTime() < pausedUntil) return [];
      const flights = await listCountedFlights(pool, after, maxFlights);
      after = flights.length < maxFlights ? '' : flights.at(-1)!.id;
      if (after === '') pausedUntil = now.getTime() + pauseMs;
      const reached: Due[] = [];
      confirmed.clear();
      for (const { quantity, basis, ...due } of flights) {
        const count = await countConfirmed(due.workspace_id, due.id, basis).catch((error: unknown) => {
          pausedUntil = now.getTime() + pauseMs;
          throw error;
        });
        if (count < quantity) continue;
        confirmed.set(due.id, count);
        // Another clock may have counted more ads: its command has another key, and finds the flight completed.
        reached.push({ ...due, occurrence: `${due.occurrence}:${count}` });
      }
      return reached;
    },
    command: 'line_item.complete',
    changes: ({ id }) => ({ delivered: confirmed.get(id)! }),
  };
}
