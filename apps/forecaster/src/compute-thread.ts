import { parentPort, workerData } from 'node:worker_threads';
import type { BacktestRatio } from '@longwave/forecasting';
import { openChannel, tlsFromConfig } from '@longwave/rpc';
import { BookingServiceService } from '@longwave/rpc/forecast';
import { SampleServiceService } from '@longwave/rpc/serving';
import { LRUCache } from 'lru-cache';
import { backtestWorkspace } from './compute/backtest-workspace.ts';
import { checkAvailability, widenSold } from './compute/check-availability.ts';
import { explainLine } from './compute/explain-line.ts';
import { findRisks } from './compute/find-risks.ts';
import type { ForecastInputs } from './compute/forecast-inputs.ts';
import { makeForecast } from './compute/make-forecast.ts';
import { makePacingPlans } from './compute/make-pacing-plans.ts';
import { createKeepBaselines } from './compute/keep-baselines.ts';
import type { Answers, Question, Reply, Request, ThreadData } from './compute/question.ts';
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
const { baselineOf, makeAhead } = createKeepBaselines();
/** Ratios of backtests by workspace: a day more of facts changes them little. */
const backtests = new LRUCache<string, readonly BacktestRatio[]>({ max: 100, ttl: 24 * 3_600_000 });
/** Hours of facts up to which a forecast makes backtests: some three seconds, once a day and workspace. Larger workspaces have the usual intervals. */
const maxBacktestHours = 250_000;
/** Ids of one request. */
const maxIds = 20_000;

/** Of the workspace's own backtests, for the intervals of a forecast. */
function ratiosOf(workspaceId: string, inputs: Pick<ForecastInputs, 'past' | 'booking'>): readonly BacktestRatio[] {
  if (inputs.past.hours.length > maxBacktestHours) return [];
  const known = backtests.get(workspaceId);
  if (known) return known;
  const { ratios } = backtestWorkspace(inputs);
  backtests.set(workspaceId, ratios);
  return ratios;
}

/** Whether the past of the workspace is kept; what is sold in it is read as well, so that both of us know it. */
async function readAhead({ workspaceId, deadlineMs }: Question): Promise<boolean> {
  const isKept = await readPast.ahead(workspaceId, Date.now(), deadlineMs);
  if (isKept) await readBooking(workspaceId, deadlineMs);
  return isKept;
}

async function inputsOf({ type, workspaceId, deadlineMs }: Question): Promise<ForecastInputs> {
  const nowMs = Date.now();
  const [past, booking] = await Promise.all([
    readPast(workspaceId, nowMs, deadlineMs),
    readBooking(workspaceId, deadlineMs),
  ]);
  // Plans, backtests and what a line item fits are not about what line items have had.
  const asked = type === 'plans' || type === 'backtest' || type === 'fit' ? [] : booking.plan.line_items;
  const ids = asked.filter(({ goal }) => goal.unit !== 'unlimited').map((line) => line.line_item_id);
  const committed = [];
  for (let at = 0; at < ids.length; at += maxIds)
    committed.push(
      ...(await sample.readCommitted({ lineItemIds: ids.slice(at, at + maxIds) }, { deadlineMs })).lineItems,
    );
  const ratios = type === 'forecast' || type === 'risks' ? ratiosOf(workspaceId, { past, booking }) : [];
  return { workspaceId, nowMs, past, booking, committed, backtests: ratios, maxPlays: config.FORECASTER_PLAYS_MAX };
}

function answer(question: Exclude<Question, { type: 'read' }>, inputs: ForecastInputs): Answers[keyof Answers] {
  if (question.type === 'plans') return makePacingPlans(inputs);
  if (question.type === 'fit') return explainLine(inputs, question.line, question);
  if (question.type === 'ahead') {
    const before = process.threadCpuUsage();
    const isMade = makeAhead(inputs, widenSold, question.flights);
    const { user, system } = process.threadCpuUsage(before);
    return { isMade, processorMs: (user + system) / 1000 };
  }
  if (question.type === 'risks') return findRisks(inputs, question.lineItemIds);
  if (question.type === 'backtest') return backtestWorkspace(inputs, question.weeks);
  return question.type === 'forecast'
    ? makeForecast(inputs, question.input)
    : checkAvailability(inputs, question.line, baselineOf);
}

const reply = (message: Reply) => parentPort!.postMessage(message);
/** Questions that somebody waits for. */
const awaited = new Set<number>();

/** Reads to the end, because readings are kept; computes the answer only for a caller who still waits. */
async function work(id: number, question: Question): Promise<void> {
  awaited.add(id);
  try {
    if (question.type === 'read') return reply({ id, end: 'answered', answer: await readAhead(question) });
    const inputs = await inputsOf(question);
    if (!awaited.has(id)) throw new Error('nobody waits for the answer');
    reply({ id, end: 'begun' });
    reply({ id, end: 'answered', answer: answer(question, inputs) });
  } catch (error) {
    reply({ id, end: 'failed', message: String((error as Error).stack ?? error) });
  } finally {
    awaited.delete(id);
  }
}

parentPort!.on('message', (request: Request) => {
  if ('abandoned' in request) awaited.delete(request.id);
  else void work(request.id, request.question);
});
