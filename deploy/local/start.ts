import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FleetIsRunning, PortTaken, startFleet, workspaceRoot, type Fleet } from '@longwave/fleet';
import { outliveWriteErrors } from '@longwave/service-kit';
import { describeEvent } from './describe-event.ts';
import { dataOptionOf, describeProxied, describeRunning, isConsoleBuilt } from './next-steps.ts';
import { fleetOptionsOf, type StartSettings } from './read-settings.ts';
import { createReport, type Report } from './report.ts';
import { samples } from './samples.ts';
import { settingsOfProcess } from './settings-of-process.ts';
import { stopRequested } from './stop-signal.ts';

/** The complete trial run on the bundled sample, once per installation. Answers whether it passed. */
async function firstJob(fleet: Fleet, report: Report): Promise<boolean> {
  const marker = path.join(fleet.dataFolder, 'first-job.json');
  if (existsSync(marker)) return true;
  report.note('\nThe first start makes a complete trial run on a sample:\n');
  // Loaded only now: a later start does not hold the job's clients in memory.
  const { runJob } = await import('./job.ts');
  const result = await runJob({ fleet, ...samples, report });
  if (result.ok) writeFileSync(marker, `${JSON.stringify(result, null, 2)}\n`, { mode: 0o600 });
  if (result.feed_url) report.note(`\n  feed   ${result.feed_url}`);
  if (result.enclosure_url) report.note(`  audio  ${result.enclosure_url}`);
  return result.ok;
}

async function main(settings: StartSettings): Promise<number> {
  const { urls } = settings;
  const options = fleetOptionsOf(settings);
  const report = createReport({ stream: process.stdout, now: () => performance.now() });
  const stopping = stopRequested();
  const starting = startFleet({
    ...options,
    onProgress: (part, durationMs) => report.done(part, durationMs, 'ready'),
    onEvent: (event) => report.note(describeEvent(event)),
  });
  await using fleet = await starting;
  const stopped = stopping.then(() => 'stopped' as const);
  const isStopped = (await Promise.race([stopped, Promise.resolve()])) === 'stopped';
  // A trial run goes through the public addresses, which lead here only once a proxy does; and it would be the first podcast of a server.
  const job = async () => urls !== undefined || firstJob(fleet, report);
  const held = isStopped ? 'stopped' : await Promise.race([job(), stopped]);
  if (held === false) {
    report.note(`\nThe trial run failed. Logs: ${fleet.logsFolder}`);
    return 1;
  }
  if (held !== 'stopped') {
    const mailFolder = settings.mail_url ? 'sent by mail_url' : path.join(fleet.dataFolder, 'mail');
    if (urls) report.note(describeProxied(urls, options.listen, options.ports));
    report.note(
      describeRunning({
        ...fleet,
        mailFolder,
        dataOption: dataOptionOf(fleet.dataFolder),
        hasConsole: isConsoleBuilt(workspaceRoot),
      }),
    );
    await stopping;
  }
  report.note('\nStopping …');
  await fleet.stop();
  report.note('Stopped. The data is kept.');
  return 0;
}

for (const stream of [process.stdout, process.stderr]) outliveWriteErrors(stream);
const settings = settingsOfProcess();
try {
  process.exit(await main(settings));
} catch (error) {
  if (error instanceof PortTaken)
    console.error(
      `\n${error.message}. Choose others with: npm start -- --${error.option} ${error.port + 1000}${dataOptionOf(settings.data)}`,
    );
  else if (error instanceof FleetIsRunning) console.error(`\n${error.message}`);
  else console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
