/**
 * `npm run bench`: each row a ratio against an honest baseline, both measured in turn in one run, with the CPU time of one item beside
 * it. No thresholds: a person judges, but for the bounds of `pacing`. With words, only the groups of rows whose names contain one of them.
 */
import path from 'node:path';
import { removeDataFolder, startFleet, temporaryDataFolder, type Fleet } from '@longwave/fleet';
import { samples } from '@longwave/local/samples';
import { makeAudio } from '@longwave/test-kit';
import { openOperator, type Operator } from '@longwave/test-kit/clients';
import { writePlansWithoutLimits } from '@longwave/test-kit/plans-without-limits';
import { agentRate, codeFlowRate, verifyRate } from './access-rate.ts';
import { changesRate } from './changes-rate.ts';
import { commandMemory } from './command-memory.ts';
import { commandRate } from './command-rate.ts';
import { coreRate, countingRate, playRate } from './count-rate.ts';
import { renderCpu } from './cpu.ts';
import { decideRate } from './decide-rate.ts';
import { decisionCore } from './decision-core.ts';
import { rangeThroughput, resolveRate } from './delivery-rate.ts';
import { encodeHlsTime, encodeTime } from './encode-time.ts';
import { exchangeRate } from './exchange-rate.ts';
import { cohortReads, farRedis, leasedInsert } from './goal-costs.ts';
import { goalRate } from './goal-rate.ts';
import { forecastRates } from './forecast-rate.ts';
import { hlsThroughput } from './hls-rate.ts';
import { ledgerRates } from './ledger-rate.ts';
import { listRate } from './list-rate.ts';
import type { Row } from './measure.ts';
import { pacing } from './pacing.ts';
import { replicaRates } from './replica-rate.ts';
import { requestRate } from './request-rate.ts';
import { restMemory } from './rest-memory.ts';
import { slowListeners } from './slow-listeners.ts';
import { storedBytes } from './stored-bytes.ts';
import { publishStitched, type Stitched } from './stitched.ts';
import { uploadMemory } from './upload-memory.ts';

const audioSeconds = 300;

/** A running installation with a published episode that has a pre-roll. */
interface Installation {
  readonly fleet: Fleet;
  readonly operator: Operator;
  readonly stitched: Stitched;
  /** For files of a measurement; removed at the end. */
  readonly folder: string;
}

type Measure<On> = (on: On) => Promise<Row | readonly Row[]>;

/** What follows a word of the command line as `--seeds=1,2,3`. */
const given = (name: string, usual: string) =>
  process.argv.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3) ?? usual;
const seeds = given('seeds', '1').split(',').map(Number);

/** Measured without an installation. */
const alone: Readonly<Record<string, Measure<void>>> = {
  commands: () => commandRate(),
  'memory of commands': () => commandMemory(),
  'memory at rest': () => restMemory(),
  'lists of resources': () => listRate(),
  'feed of changes': () => changesRate(),
  'counting, pure': async () => [await coreRate(), await playRate()],
  'decision core': () => decisionCore(),
  forecasts: () => forecastRates(),
  'two processes of a service': () => replicaRates(),
  // Alone: `npm run bench -- pacing --seeds=1,2,3`.
  pacing: () => pacing(seeds),
  'insert with leases': async () => leasedInsert(),
  'decisions with Redis far away': async () => farRedis(),
  'reads of cohorts': async () => cohortReads(given('servings', '1,10')),
};

const installed: Readonly<Record<string, Measure<Installation>>> = {
  'stitched audio': ({ fleet, stitched, folder }) => rangeThroughput(fleet, stitched, folder),
  'resolve and decide': ({ fleet, stitched, folder }) => resolveRate(fleet, stitched, folder),
  'stored per new play': ({ fleet, stitched, folder }) => storedBytes(fleet, stitched, folder),
  'slow listeners': ({ fleet, stitched }) => slowListeners(fleet, stitched),
  'ad decisions': ({ fleet, stitched }) => decideRate(fleet, stitched),
  'goals by leases': ({ fleet }) => goalRate(fleet),
  'counting, bus to rollup': ({ fleet }) => countingRate(fleet),
  'ledger of ads': ({ fleet }) => ledgerRates(fleet),
  'requests of the REST API and feeds': ({ fleet, operator, stitched, folder }) =>
    requestRate(fleet, operator, stitched, folder),
  'verification of credentials': ({ fleet, operator }) => verifyRate(fleet, operator),
  'messages of hosting platforms': ({ fleet, operator }) => exchangeRate(fleet, operator),
  // The last but for those that do not play: ads of the show need a track from then on.
  'plays by HLS': ({ fleet, stitched, folder }) => hlsThroughput(fleet, stitched, folder),
  agents: ({ fleet, operator }) => agentRate(fleet, operator),
  'OAuth flows': ({ fleet, operator, folder }) => codeFlowRate(fleet, operator, folder),
  'concurrent uploads': ({ fleet, operator }) => uploadMemory(fleet, operator),
};

/** Measured without an installation, of a file. */
const encodings: Readonly<Record<string, Measure<{ readonly audio: string; readonly folder: string }>>> = {
  encoding: ({ audio, folder }) => encodeTime(audio, audioSeconds, folder),
  'encoding for HLS': ({ audio, folder }) => encodeHlsTime(audio, audioSeconds, folder),
};

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isChosen = (name: string) => words.length === 0 || words.some((word) => name.includes(word));
const names = [alone, installed, encodings].flatMap((groups) => Object.keys(groups));
if (!names.some(isChosen)) {
  console.error(`No rows are named so. There are: ${names.join('; ')}.`);
  process.exit(2);
}

function show(row: Row): void {
  const number = (value: number) =>
    (value >= 100 ? Math.round(value) : Number(value.toPrecision(3))).toLocaleString('en');
  console.log(
    `  ${row.ratio.toFixed(2).padStart(6)}   ${row.name}: ${number(row.ours)} ${row.unit} against ${number(row.baseline)} ${row.unit} (${row.baselineName})`,
  );
  if (row.cpu) console.log(`           CPU: ${renderCpu(row.cpu.ours)} against ${renderCpu(row.cpu.baseline)}`);
}

async function measureChosen<On>(groups: Readonly<Record<string, Measure<On>>>, on: On): Promise<void> {
  for (const [name, measure] of Object.entries(groups))
    if (isChosen(name)) [await measure(on)].flat().forEach((row) => show(row));
}

console.log('\n   ratio   ours against the baseline (medians of alternating rounds)\n');
await measureChosen(alone, undefined);

const data = temporaryDataFolder();
try {
  const audio = makeAudio(data.inside('bench.wav'), audioSeconds);
  const folder = path.dirname(audio);
  if (Object.keys(installed).some(isChosen)) {
    const plans = writePlansWithoutLimits(data.inside('plans.json'));
    await using fleet = await startFleet({
      dataFolder: data.root,
      ports: 'free',
      trustedProxies: '127.0.0.1/32',
      env: { 'auth-server': { PLANS_FILE: plans }, 'hosting-exchange': { REQUESTS_PER_MINUTE: '1000000' } },
    });
    const operator = openOperator(fleet);
    const stitched = await publishStitched(fleet, operator, { audio, ad: samples.ad, artwork: samples.artwork });
    await measureChosen(installed, { fleet, operator, stitched, folder });
    operator.close();
    await fleet.stop();
  }
  await measureChosen(encodings, { audio, folder });
} finally {
  removeDataFolder(data);
}
console.log('');
