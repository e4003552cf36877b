import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { defaultDataFolder, FleetIsRunning, PortTaken, startFleet, workspaceRoot } from '@longwave/fleet';
import type { Fleet, PublicPorts, ServiceEvent } from '@longwave/fleet';
import { outliveWriteErrors } from '@longwave/service-kit';
import { dataOptionOf, describeRunning } from './next-steps.ts';
import { defaultPortBase, parsePortBase } from './ports.ts';
import { createReport, type Report } from './report.ts';
import { samples } from './samples.ts';
import { settingsOf } from './service-settings.ts';
import { stopRequested } from './stop-signal.ts';

function readOptions(): { readonly ports: PublicPorts; readonly dataFolder: string } {
  const { values } = parseArgs({
    options: {
      'port-base': { type: 'string', default: defaultPortBase },
      data: { type: 'string', default: defaultDataFolder },
    },
  });
  return { ports: parsePortBase(values['port-base']), dataFolder: path.resolve(workspaceRoot, values.data) };
}

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

function describeEvent(event: ServiceEvent): string {
  switch (event.kind) {
    case 'exited':
      return `✗ ${event.service} ended (${event.exit.signal ?? `exit code ${event.exit.code}`}), starting it again`;
    case 'restart-failed':
      return `✗ ${event.service} cannot be started, trying again in ${event.restartInMs / 1000} s: ${event.reason.split('\n')[0]}`;
    case 'restarted':
      return `  ${event.service} runs again (process ${event.pid})`;
  }
}

async function main({ ports, dataFolder }: ReturnType<typeof readOptions>): Promise<number> {
  const report = createReport({ stream: process.stdout, now: () => performance.now() });
  const stopping = stopRequested();
  const starting = startFleet({
    dataFolder,
    ports,
    env: settingsOf(process.env, process.env['INIT_CWD'] ?? process.cwd()),
    trustedProxies: process.env['TRUSTED_PROXIES'] ?? '',
    onProgress: (part, durationMs) => report.done(part, durationMs, 'ready'),
    onEvent: (event) => report.note(describeEvent(event)),
  });
  await using fleet = await starting;
  const stopped = stopping.then(() => 'stopped' as const);
  const isStopped = (await Promise.race([stopped, Promise.resolve()])) === 'stopped';
  const held = isStopped ? 'stopped' : await Promise.race([firstJob(fleet, report), stopped]);
  if (held === false) {
    report.note(`\nThe trial run failed. Logs: ${fleet.logsFolder}`);
    return 1;
  }
  if (held !== 'stopped') {
    const mailFolder = process.env['MAIL_URL'] ? 'sent by MAIL_URL' : path.join(fleet.dataFolder, 'mail');
    report.note(describeRunning({ ...fleet, mailFolder, dataOption: dataOptionOf(fleet.dataFolder) }));
    await stopping;
  }
  report.note('\nStopping …');
  await fleet.stop();
  report.note('Stopped. The data is kept.');
  return 0;
}

for (const stream of [process.stdout, process.stderr]) outliveWriteErrors(stream);
let options: ReturnType<typeof readOptions>;
try {
  options = readOptions();
} catch (error) {
  console.error(`${(error as Error).message}\nnpm start -- --help explains the options.`);
  process.exit(64);
}
try {
  process.exit(await main(options));
} catch (error) {
  if (error instanceof PortTaken)
    console.error(
      `\n${error.message}. Choose others with: npm start -- --port-base ${error.port + 1000}${dataOptionOf(options.dataFolder)}`,
    );
  else if (error instanceof FleetIsRunning) console.error(`\n${error.message}`);
  else console.error(`\n${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
