/** `npm run bench`: each row a ratio against an honest baseline, both measured in turn in one run. No thresholds: a person judges. */
import path from 'node:path';
import { removeDataFolder, startFleet, temporaryDataFolder } from '@longwave/fleet';
import { makeAudio } from '@longwave/test-kit';
import { agentRate, codeFlowRate, verifyRate } from './access-rate.ts';
import { changesRate } from './changes-rate.ts';
import { commandMemory } from './command-memory.ts';
import { commandRate } from './command-rate.ts';
import { coreRate, countingRate } from './count-rate.ts';
import { decideRate } from './decide-rate.ts';
import { decisionCore } from './decision-core.ts';
import { encodeTime } from './encode-time.ts';
import { listRate } from './list-rate.ts';
import type { Row } from './measure.ts';
import { rangeThroughput, resolveRate } from './delivery-rate.ts';
import { requestRate } from './request-rate.ts';
import { slowListeners } from './slow-listeners.ts';
import { publishStitched } from './stitched.ts';
import { uploadMemory } from './upload-memory.ts';
import { openOperator } from '@longwave/test-kit/clients';
import { writePlansWithoutLimits } from '@longwave/test-kit/plans-without-limits';
import { samples } from '@longwave/local/samples';

const audioSeconds = 300;

const rows: Row[] = [];
function show(...measured: Row[]): void {
  for (const row of measured) {
    rows.push(row);
    const number = (value: number) =>
      (value >= 100 ? Math.round(value) : Number(value.toPrecision(3))).toLocaleString('en');
    console.log(
      `  ${row.ratio.toFixed(2).padStart(6)}   ${row.name}: ${number(row.ours)} ${row.unit} against ${number(row.baseline)} ${row.unit} (${row.baselineName})`,
    );
  }
}

console.log('\n   ratio   ours against the baseline (medians of alternating rounds)\n');
show(await commandRate());
show(await commandMemory());
show(await listRate());
show(await changesRate());
show(await coreRate());
show(...(await decisionCore()));

const data = temporaryDataFolder();
try {
  const plans = writePlansWithoutLimits(data.inside('plans.json'));
  await using fleet = await startFleet({
    dataFolder: data.root,
    ports: 'free',
    trustedProxies: '127.0.0.1/32',
    env: { 'auth-server': { PLANS_FILE: plans } },
  });
  const operator = openOperator(fleet);
  const audio = makeAudio(data.inside('bench.wav'), audioSeconds);
  const stitched = await publishStitched(fleet, operator, { audio, ad: samples.ad, artwork: samples.artwork });
  show(...(await rangeThroughput(fleet, stitched, path.dirname(audio))));
  show(...(await resolveRate(stitched, path.dirname(audio))));
  show(await slowListeners(fleet, stitched));
  show(await decideRate(fleet, stitched));
  show(await countingRate(fleet));
  show(...(await requestRate(fleet, operator, stitched, path.dirname(audio))));
  show(...(await verifyRate(fleet, operator)));
  show(await agentRate(fleet, operator));
  show(await codeFlowRate(fleet, operator, path.dirname(audio)));
  show(await uploadMemory(fleet, operator));
  operator.close();
  await fleet.stop();
  show(await encodeTime(audio, audioSeconds, path.dirname(audio)));
} finally {
  removeDataFolder(data);
}
console.log('');
