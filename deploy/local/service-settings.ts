import path from 'node:path';
import type { FleetOptions } from '@longwave/fleet';
import { namesOf, services } from '@longwave/services';

/** Settings of services that `npm start` passes on from its own environment; each service reads those it knows. */
const passedSettings = [
  'FETCH_ALLOW_ORIGINS',
  'PLANS_FILE',
  'WEBSUB_HUB',
  'LOG_LEVEL',
  'MAIL_URL',
  'MAIL_FROM',
  'POLICY_URL',
  'TERMS_URL',
] as const;

/**
 * The settings that an environment has for every service. Other variables are not passed on.
 * @param folder a relative PLANS_FILE is relative to it
 */
export function settingsOf(
  environment: Readonly<Record<string, string | undefined>>,
  folder: string,
): NonNullable<FleetOptions['env']> {
  const settings = passedSettings.flatMap((name) => {
    const value = environment[name];
    return value ? [[name, name === 'PLANS_FILE' ? path.resolve(folder, value) : value] as const] : [];
  });
  return Object.fromEntries(namesOf(services).map((service) => [service, Object.fromEntries(settings)]));
}
