/** A runner of its own process, to be killed: starts the engines on the folder in `argv[2]` and says so. */
import { startFleet } from '../src/start-fleet.ts';

await startFleet({ dataFolder: process.argv[2] ?? '', ports: 'free', services: [] });
process.stdout.write('ready\n');
setInterval(() => undefined, 60_000);
