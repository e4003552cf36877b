import { parentPort, workerData } from 'node:worker_threads';
import { openChannel, tlsFromConfig } from '@longwave/rpc';
import { BookingServiceService } from '@longwave/rpc/forecast';
import { SampleServiceService } from '@longwave/rpc/serving';
import { checkAvailability } from './compute/check-availability.ts';
import type { ForecastInputs } from './compute/forecast-inputs.ts';
import { makeForecast } from './compute/make-forecast.ts';
import { makePacingPlans } from './compute/make-pacing-plans.ts';
import type { Answers, Question, Reply, ThreadData } from './compute/question.ts';
import { createReadBooking } from './inputs/read-booking.ts';
import { createReadPast } from './inputs/read-past.ts';

/** A thread of its own for minutes of computing: a lease is renewed meanwhile, and ending the thread ends the work at once. */
const config = workerData as ThreadData;
const tls = tlsFromConfig(config);
const management = openChannel(config.MANAGEMENT_ADDRESS, 'management', tls);
const internalServing = openChannel(config.INTERNAL_SERVING_ADDRESS, 'internal-serving', tls);
const sample = internalServing.client(SampleServiceService);
const readBooking = createReadBooking(management.client(BookingServiceService));
const readPast = createReadPast(sample);
/** Ids of one request. */
const maxIds = 20_000;

async function inputsOf({ type, workspaceId, deadlineMs }: Question): Promise<ForecastInputs> {
  const nowMs = Date.now();
  const [past, booking] = await Promise.all([
    readPast(workspaceId, nowMs, deadlineMs),
    readBooking(workspaceId, deadlineMs),
  ]);
  // What line items have had is no part of a plan.
  const asked = type === 'plans' ? [] : booking.plan.line_items;
  const ids = asked.filter(({ goal }) => goal.unit !== 'unlimited').map((line) => line.line_item_id);
  const committed = [];
  for (let at = 0; at < ids.length; at += maxIds)
    committed.push(
      ...(await sample.readCommitted({ lineItemIds: ids.slice(at, at + maxIds) }, { deadlineMs })).lineItems,
    );
  return { nowMs, past, booking, committed, maxPlays: config.FORECASTER_PLAYS_MAX };
}

async function answer(question: Question): Promise<Answers[keyof Answers]> {
  const inputs = await inputsOf(question);
  if (question.type === 'plans') return makePacingPlans(inputs);
  return question.type === 'forecast' ? makeForecast(inputs, question.input) : checkAvailability(inputs, question.line);
}

parentPort!.on('message', (question: Question) => {
  answer(question).then(
    (found) => parentPort!.postMessage({ ok: true, answer: found } satisfies Reply),
    (error: unknown) =>
      parentPort!.postMessage({ ok: false, message: String((error as Error).stack ?? error) } satisfies Reply),
  );
});
