import { localUrls, type FleetUrls } from '@longwave/fleet';
import { fleetOptionsOf, readSettings } from '@longwave/local/settings';

/** The public addresses that `npm start` with these options would have here. Throws `SettingsError` with everything that is wrong. */
function addressesOf(options: readonly string[]): FleetUrls {
  const settings = readSettings(options, process.env, process.env['INIT_CWD'] ?? process.cwd());
  return settings.urls ?? localUrls(fleetOptionsOf(settings).ports);
}

/**
 * Refuses options of `npm start` with which clients would not find the installation any more: feeds and enclosures that were handed out
 * have the addresses that it runs with. Throws in words.
 * @param running the addresses of the service that runs
 */
export function refuseOtherAddresses(options: readonly string[], running: FleetUrls): void {
  const found = addressesOf(options);
  const hosts = Object.keys(running) as (keyof FleetUrls)[];
  const moved = hosts.filter((host) => host in found && new URL(found[host]).href !== new URL(running[host]).href);
  if (moved.length === 0) return;
  throw new Error(
    [
      'This release would answer at other addresses than the service that runs, where nobody would find it:',
      ...moved.map((host) => `  ${found[host]} instead of ${running[host]}`),
      'Say its options after --, as npm start had them: -- --config FILE, or -- --port-base N. Nothing was changed.',
    ].join('\n'),
  );
}
