/** `npm run faults`: puts an installation through faults under load, and prints what was seen. Exit code 1: an invariant was broken. */
import { parseArgs } from 'node:util';
import endRun from '../_end-run.mjs';
import beginRun from '../_run.mjs';
import { renderResult } from './_render-results.ts';

const { values } = parseArgs({
  options: {
    case: { type: 'string', multiple: true },
    list: { type: 'boolean' },
    profile: { type: 'string' },
  },
});
if (values.profile !== undefined && !['embedded', 'cluster'].includes(values.profile)) {
  console.error('--profile is embedded or cluster.');
  process.exit(2);
}
// Read by `_run.mjs` and `_profile.ts`.
if (values.profile === 'cluster') process.env['TEST_PROFILE'] = 'cluster';
await using stack = new AsyncDisposableStack();
await beginRun();
stack.defer(endRun);
const { startSubject } = await import('./_subject.ts');
const { casesOf } = await import('./_cases.ts');
const { publishShow } = await import('./_show.ts');
const { openTruth } = await import('./_truth.ts');
const { runCase } = await import('./_run-case.ts');

await using subject = await startSubject();
const cases = casesOf(subject);
const chosen = cases.filter(({ name }) => values.case?.some((part) => name.includes(part)) ?? true);
if (subject.disks.length === 0) console.error('(Cases of full disks need Linux, as root: left out.)');
if (chosen.length === 0) {
  console.error(`No case has ${values.case!.map((part) => `“${part}”`).join(' or ')} in its name; --list shows them.`);
  process.exitCode = 2;
} else if (values.list) for (const { name } of chosen) console.log(name);
else {
  const show = await publishShow(subject.world, 'unlimited');
  await using truth = await openTruth(subject.world, show);
  let broken = 0;
  for (const [index, one] of chosen.entries()) {
    try {
      const result = await runCase({ subject, show, truth }, one, `${Date.now().toString(36)}${index}`);
      broken += result.violations.length;
      console.log(renderResult(result));
    } catch (error) {
      broken += 1;
      console.log(`BROKEN: ${one.name}: ${(error as Error).stack}`);
    }
  }
  process.exitCode = broken === 0 ? 0 : 1;
}
