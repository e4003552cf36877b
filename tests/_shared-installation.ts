import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { dataFolder, findRunningFleet, freePort } from '@longwave/fleet';
import { openOperator } from '@longwave/test-kit/clients';
import type { Installation } from './_fleet.ts';
import { startHostingFleet } from './_hosting-world.ts';

/** Where the installation of a run is found. */
interface Place {
  readonly dataFolder: string;
  readonly outsidePort: number;
}

/** The installation that the tests of a run share: each makes accounts of its own, and none stops a process or changes a setting. */
export interface SharedInstallation extends Installation {
  /** Of 127.0.0.1: what a test serves there, the installation may fetch. */
  readonly outsidePort: number;
}

/** Starts the installation of a run, for `_run.mjs`. */
export async function startSharedInstallation(): Promise<{
  readonly place: Place;
  readonly stop: () => Promise<void>;
}> {
  const outsidePort = await freePort();
  const started = await startHostingFleet({ FETCH_ALLOW_ORIGINS: `http://127.0.0.1:${outsidePort}` });
  return {
    place: { dataFolder: started.fleet.dataFolder, outsidePort },
    stop: async () => started[Symbol.asyncDispose](),
  };
}

/** The installation of this run, which the first test that asks for it waits for. */
export async function openSharedInstallation(): Promise<SharedInstallation> {
  const answer = await fetch(process.env['TEST_INSTALLATION']!);
  if (!answer.ok) throw new Error(await answer.text());
  const place = (await answer.json()) as Place;
  const fleet = findRunningFleet(dataFolder(place.dataFolder))!;
  const operator = openOperator(fleet);
  const folder = mkdtempSync(path.join(process.env['TEST_RUN_FOLDER']!, 'files-'));
  return {
    fleet,
    operator,
    folder,
    outsidePort: place.outsidePort,
    [Symbol.asyncDispose]: async () => {
      operator.close();
      rmSync(folder, { recursive: true });
    },
  };
}
