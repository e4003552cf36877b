import { buildIndex, createVerdictCounts, decide, type DecisionContext } from '@longwave/ad-decision';
import { mixedInputs, mixedPlan, mixedPlays, pacedInputs, planWithGoals } from './decision-mix.ts';
import { createLinearDecision } from './linear-decision.ts';
import { compare, median, type Row } from './measure.ts';

/** Times of one round, ascending, in ms. */
function timesOf(plays: readonly DecisionContext[], work: (play: DecisionContext) => unknown): Float64Array {
  const times = new Float64Array(plays.length);
  plays.forEach((play, at) => {
    const started = performance.now();
    work(play);
    times[at] = performance.now() - started;
  });
  return times.sort();
}

const at = (times: Float64Array, share: number) => times[Math.floor(share * (times.length - 1))]!;
/** Decisions per second of their own time. */
const perSecond = (times: Float64Array) => ({
  value: (times.length * 1000) / times.reduce((sum, one) => sum + one, 0),
  items: times.length,
});
const ms = (value: number) => `${value.toPrecision(2)} ms`;

async function coreAt(lineItems: number, playCount: number, baselineCount: number): Promise<Row> {
  const plan = mixedPlan(lineItems);
  const started = performance.now();
  const index = buildIndex(plan);
  const buildMs = performance.now() - started;
  const linear = createLinearDecision(plan, mixedInputs);
  let seed = 0;
  for (const play of mixedPlays(50, 1)) {
    const found = decide(index, play, mixedInputs).stages[0]!.out;
    if (found !== linear(play).eligible) throw new Error(`${play.decisionId}: the scan finds other line items`);
  }
  const [p50s, p99s]: [number[], number[]] = [[], []];
  const row = await compare(
    { name: '', unit: 'decisions/s', baselineName: 'every line item tested, the rest sorted' },
    5,
    async () => {
      const times = timesOf(mixedPlays(playCount, ++seed), (play) => decide(index, play, mixedInputs));
      p50s.push(at(times, 0.5));
      p99s.push(at(times, 0.99));
      return perSecond(times);
    },
    async () => perSecond(timesOf(mixedPlays(baselineCount, seed), linear)),
  );
  const spread = `p50 ${ms(median(p50s))}, p99 ${ms(median(p99s))} a break, index built in ${Math.round(buildMs)} ms`;
  return { ...row, name: `decision core at ${lineItems.toLocaleString('en')} line items (${spread})` };
}

/** 10,000 line items of which 2,000 have goals, most without credit and some behind, against the same line items without goals. */
async function coreWithGoals(plays: number): Promise<Row> {
  const index = buildIndex(planWithGoals(10_000, 2_000));
  const free = buildIndex(planWithGoals(10_000, 0));
  const paced = pacedInputs(index);
  let seed = 100;
  return compare(
    {
      name: 'decision core at 10,000 line items of which 2,000 have goals, a twentieth of them with credit',
      ...{ unit: 'decisions/s', baselineName: 'the same line items without goals' },
    },
    9,
    async () => perSecond(timesOf(mixedPlays(plays, ++seed), (play) => decide(index, play, paced))),
    async () => perSecond(timesOf(mixedPlays(plays, seed), (play) => decide(free, play, mixedInputs))),
  );
}

/** The same decisions with every verdict counted. */
async function coreCounting(plays: number): Promise<Row> {
  const index = buildIndex(planWithGoals(10_000, 2_000));
  const paced = pacedInputs(index);
  const counts = createVerdictCounts(index);
  let seed = 200;
  return compare(
    {
      name: 'decision core at 10,000 line items with verdicts counted',
      ...{ unit: 'decisions/s', baselineName: 'the same decisions, not counted' },
    },
    9,
    async () => {
      const round = perSecond(
        timesOf(mixedPlays(plays, ++seed), (play) => counts.add(play.decisionId, decide(index, play, paced))),
      );
      counts.drain();
      return round;
    },
    async () => perSecond(timesOf(mixedPlays(plays, seed), (play) => decide(index, play, paced))),
  );
}

/** One break of two slots decided by the core alone, against a linear scan that does the same; with goals and with counted verdicts, against without. */
export async function decisionCore(): Promise<Row[]> {
  return [
    await coreAt(10_000, 10_000, 200),
    await coreAt(100_000, 3_000, 20),
    await coreWithGoals(10_000),
    await coreCounting(10_000),
  ];
}
