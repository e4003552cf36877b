import path from 'node:path';
import type { FleetOptions, PublicUrls } from '@longwave/fleet';
import { defaultDataFolder, workspaceRoot } from '@longwave/fleet/running';
import { namesOf, services, type ServiceName } from '@longwave/services';
import { portsFrom } from './ports.ts';
import { publicUrlsOf } from './public-urls.ts';
import { settingNames, settings, textOf, type SettingName, type Settings } from './settings.ts';
import { readFile, readOptions, readVariables, type FoundSettings, type FoundValue } from './settings-sources.ts';

/** Everything that `npm start` was told, checked. */
export interface StartSettings extends Settings {
  /** Absolute. */
  readonly data: string;
  /** Undefined: those of this machine. */
  readonly urls: PublicUrls | undefined;
  readonly trusted_proxies: string[];
  readonly adopt: boolean;
}

/** Raised with everything that is wrong at once; its message is what the operator reads. */
export class SettingsError extends Error {
  /** One sentence each, without a full stop. */
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      faults.length === 1
        ? `${faults[0]}.`
        : `These settings are not right:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
    this.name = 'SettingsError';
    this.faults = faults;
  }
}

const isLoopbackAddress = (address: string) =>
  address === 'localhost' || address === '::1' || address.startsWith('127.');

const shown = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Checks each value by itself, so that one wrong value hides no other. */
function check(found: FoundSettings): { readonly values: Partial<Settings>; readonly faults: readonly string[] } {
  const faults: string[] = [];
  const entries = settingNames.flatMap((name) => {
    const { value, place } = found[name] ?? ({} as Partial<FoundValue>);
    const result = settings[name].safeParse(value);
    if (result.success) return [[name, result.data] as const];
    const { expected, secret } = textOf(name);
    faults.push(`${place}: expected ${expected}${secret ? '' : `, not “${shown(value)}”`}`);
    return [];
  });
  return { values: Object.fromEntries(entries), faults };
}

/** Why nobody could connect, where proxies speak the PROXY protocol. */
function proxyFaultsOf(
  { proxy_protocol: proxyProtocol, public_url: publicUrl }: Partial<Settings>,
  trustedProxies: readonly string[],
): readonly (readonly [name: SettingName, fault: string])[] {
  if (proxyProtocol !== 'on') return [];
  if (publicUrl === undefined)
    return [['proxy_protocol', 'expected public_url too, to which a proxy in front answers']];
  return trustedProxies.length > 0
    ? []
    : [['proxy_protocol', 'expected trusted_proxies too: connections of all others are closed']];
}

/** Why two of our own ports would be the same. */
function portFaultsOf({
  port_base: base,
  metrics_port_base: metrics,
}: Partial<Settings>): readonly (readonly [name: SettingName, fault: string])[] {
  if (base === undefined || metrics === undefined) return [];
  const own = Object.values(portsFrom(base));
  const isClear = namesOf(services).every((_, at) => !own.includes(metrics + at));
  return isClear ? [] : [['metrics_port_base', `expected ten ports beside those of port_base, ${base} to ${base + 4}`]];
}

/**
 * The settings of `npm start`: an option wins over a variable, a variable over the file, and the file over the default. A path in the file
 * is relative to the file; of options and variables, `data` to the repository and `plans_file` to the caller's folder.
 * Throws `SettingsError` with everything that is wrong.
 * @param callersFolder where npm was called
 */
export function readSettings(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  callersFolder: string,
): StartSettings {
  const options = readOptions(args);
  const variables = readVariables(environment);
  const named = options.config ?? environment['LONGWAVE_CONFIG'];
  const file = named ? readFile(path.resolve(callersFolder, named)) : { found: {}, faults: [] };
  const found: FoundSettings = { ...file.found, ...variables.found, ...options.found };
  const { values, faults } = check(found);
  const { urls, faults: urlFaults } = publicUrlsOf(values);
  const placeOf = (name: SettingName) => found[name]?.place ?? name;
  const ownProxies = urls && isLoopbackAddress(values.listen ?? '') ? ['127.0.0.1/32', '::1/128'] : [];
  const trustedProxies = values.trusted_proxies ?? ownProxies;
  const all = [
    ...[options, variables, file].flatMap((source) => source.faults),
    ...faults,
    ...[...urlFaults, ...portFaultsOf(values), ...proxyFaultsOf(values, trustedProxies)].map(
      ([name, fault]) => `${placeOf(name)}: ${fault}`,
    ),
  ];
  if (all.length > 0) throw new SettingsError(all);
  const checked = values as Settings;
  const absolute = (name: SettingName, folder: string, value: string) =>
    path.resolve(found[name]?.folder ?? folder, value);
  const { data, plans_file: plans } = checked;
  return {
    ...checked,
    data: data === undefined ? defaultDataFolder : absolute('data', workspaceRoot, data),
    plans_file: plans === undefined ? undefined : absolute('plans_file', callersFolder, plans),
    trusted_proxies: trustedProxies,
    urls,
    adopt: options.adopt,
  };
}

const ofResources: readonly ServiceName[] = [
  'management',
  'analytics-sink',
  'hosting-exchange',
  'rest-gateway',
  'mcp-server',
];

/** The services that read a variable which settings decide: no other gets it, because some are secret. */
export const readersOf: Readonly<Record<keyof ReturnType<typeof decidedVariables>, readonly ServiceName[]>> = {
  LOG_LEVEL: namesOf(services),
  FETCH_ALLOW_ORIGINS: ['auth-server', 'management', 'encoder', 'hosting-exchange'],
  PLANS_FILE: ['auth-server'],
  WEBSUB_HUB: ['public-delivery'],
  MAIL_URL: ['auth-server'],
  MAIL_FROM: ['auth-server'],
  POLICY_URL: ofResources,
  TERMS_URL: ofResources,
};

/** The variables of services that settings decide. */
function decidedVariables(given: StartSettings) {
  return {
    LOG_LEVEL: given.log_level,
    FETCH_ALLOW_ORIGINS: given.fetch_allow_origins?.join(','),
    PLANS_FILE: given.plans_file,
    WEBSUB_HUB: given.websub_hub,
    MAIL_URL: given.mail_url,
    MAIL_FROM: given.mail_from,
    POLICY_URL: given.policy_url,
    TERMS_URL: given.terms_url,
  };
}

/** Those of each service. */
function serviceVariables(given: StartSettings): NonNullable<FleetOptions['env']> {
  const variables = Object.entries(decidedVariables(given)).filter(
    (entry): entry is [keyof typeof readersOf, string] => entry[1] !== undefined,
  );
  const ofService = (service: ServiceName) => variables.filter(([name]) => readersOf[name].includes(service));
  return Object.fromEntries(namesOf(services).map((service) => [service, Object.fromEntries(ofService(service))]));
}

/** The installation that settings describe. */
export const fleetOptionsOf = (given: StartSettings) =>
  ({
    dataFolder: given.data,
    ports: portsFrom(given.port_base),
    ...(given.metrics_port_base !== undefined && { metricsPortBase: given.metrics_port_base }),
    listen: given.listen,
    ...(given.urls && { urls: given.urls }),
    adopt: given.adopt,
    trustedProxies: given.trusted_proxies.join(','),
    proxyProtocol: given.proxy_protocol === 'on',
    env: serviceVariables(given),
  }) satisfies FleetOptions;
