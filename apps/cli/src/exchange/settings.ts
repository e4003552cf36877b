import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createExchangeClient, type ExchangeClient, type SignedMessage } from '@longwave/exchange-client';
import type { JWK } from 'jose';
import { z } from 'zod';
import { typed as program, UsageError } from '../command.ts';
import { tell } from './tell.ts';
import { appendSigned } from './signed-lines.ts';

/** A command, as far as its settings matter. */
export interface Reading {
  /** Settings that it reads: none, those of the connection, or these and the key that signs. */
  readonly reads: 'nothing' | 'connection' | 'connection and key';
}

/** The connection of a hosting platform, as the file of `--config` has it. Paths are relative to that file. */
const settingsSchema = z.strictObject({
  api_url: z.url(),
  token_url: z.url(),
  client_id: z.string().min(1),
  client_secret: z.string().min(1).optional(),
  /** File of an ES256 private JWK, in place of the secret (RFC 7523). */
  client_key_file: z.string().min(1).optional(),
  workspace_id: z.string().startsWith('ws_'),
  authority_id: z.string().startsWith('agr_'),
  /** Id of the machine key, and the file of its private half; commands that only read need neither. */
  kid: z.string().startsWith('key_').optional(),
  key_file: z.string().min(1).optional(),
});
type Settings = z.output<typeof settingsSchema>;
/** With the key, for commands that sign. */
const signingSettings = settingsSchema.required({ kid: true, key_file: true });

/** Options by which a setting is named on the command line; they win over the file. */
export const settingOptions = {
  config: ['FILE', 'a JSON file with the settings below, in words with “_”: {"api_url": …, "client_secret": …}'],
  'api-url': ['URL', '{api_url} of the installation'],
  'token-url': ['URL', '{base_url}/oauth/token'],
  'client-id': ['ID', 'the registered client; its secret is in the file, or in LONGWAVE_EXCHANGE_SECRET'],
  'client-key-file': ['FILE', 'a private JWK (ES256) of the client, in place of the secret'],
  'workspace-id': ['WS', 'the workspace of the authority grant'],
  'authority-id': ['AGR', 'the authority grant'],
  kid: ['KEY', 'ID of the machine key that signs (key_…)'],
  'key-file': ['FILE', 'its private half, as “key new” writes it'],
} as const satisfies Readonly<Record<string, readonly [value: string, meaning: string]>>;
export type SettingOption = keyof typeof settingOptions;

const keyOptions: readonly string[] = ['kid', 'key-file'];

/** The settings that a command reads, with the placeholders of their values and their meanings. */
export const settingsFor = ({ reads }: Reading): readonly (readonly [string, readonly [string, string]])[] =>
  reads === 'nothing'
    ? []
    : Object.entries(settingOptions).filter(([name]) => reads === 'connection and key' || !keyOptions.includes(name));

/** The JSON of a file. Throws `UsageError` when it cannot be read. */
export function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(`${file} cannot be read as JSON: ${(error as Error).message}`);
  }
}

/** The file of a setting: beside the configuration that names it, or where the program runs. */
const resolved = (file: string, config: string | undefined) =>
  path.resolve(config === undefined ? '.' : path.dirname(config), file);

/**
 * Settings of the configuration file and the command line.
 * @param isSigning whether the key is needed
 * Throws `UsageError` with each that is missing or wrong.
 */
function readSettings(values: Readonly<Partial<Record<SettingOption, string>>>, isSigning: boolean): Settings {
  const { config, ...options } = values;
  const fromFile = config === undefined ? {} : (readJson(config) as Readonly<Record<string, unknown>>);
  const files = ['client_key_file', 'key_file'] as const;
  const paths = files.flatMap((name) =>
    typeof fromFile[name] === 'string' ? [[name, resolved(fromFile[name], config)] as const] : [],
  );
  const typed = Object.entries(options).map(([name, value]) => [name.replaceAll('-', '_'), value] as const);
  const secret = process.env['LONGWAVE_EXCHANGE_SECRET'];
  const raw: Readonly<Record<string, unknown>> = {
    ...fromFile,
    ...Object.fromEntries(paths),
    ...(secret && { client_secret: secret }),
    ...Object.fromEntries(typed),
  };
  const parsed = (isSigning ? signingSettings : settingsSchema).safeParse(raw);
  return parsed.success ? parsed.data : refuseSettings(parsed.error.issues, raw);
}

/** Throws `UsageError` with a line for each setting that is missing or wrong. */
function refuseSettings(issues: readonly z.core.$ZodIssue[], raw: Readonly<Record<string, unknown>>): never {
  const wrong = issues.map(({ path: at, message, code }) => {
    if (code === 'unrecognized_keys') return message;
    const name = at.join('.');
    const option = `--${name.replaceAll('_', '-')} (“${name}”)`;
    return raw[name] === undefined ? `${option} is missing.` : `${option}: ${message}`;
  });
  throw new UsageError(`Settings are missing or wrong.\n${wrong.map((each) => `  ${each}`).join('\n')}`);
}

/**
 * A private key.
 * @param advice what to do about a file that has none
 * Throws `UsageError`.
 */
function readKey(file: string, type: 'ed25519' | 'ec', advice: string): JWK {
  const jwk = readJson(file) as JWK;
  try {
    if (createPrivateKey({ key: jwk, format: 'jwk' }).asymmetricKeyType === type) return jwk;
  } catch {
    // The advice says more than an error of the format.
  }
  throw new UsageError(`${file} has no private key: ${advice}`);
}

/** The client that the settings describe, and what it has signed so far. */
export interface Connection {
  readonly exchange: ExchangeClient;
  readonly settings: Settings;
  readonly signed: readonly SignedMessage[];
}

/** @param keep file of `--keep` */
export function connect(
  values: Readonly<Partial<Record<SettingOption, string>>>,
  { reads }: Reading,
  keep: string | undefined,
): Connection {
  const isSigning = reads === 'connection and key';
  const settings = readSettings(values, isSigning);
  const { client_secret: clientSecret, client_key_file: clientKey, kid, key_file: keyFile } = settings;
  if (clientSecret === undefined && clientKey === undefined)
    throw new UsageError(
      'The secret of the client is missing: set LONGWAVE_EXCHANGE_SECRET, or “client_secret” in the file of --config.',
    );
  const signed: SignedMessage[] = [];
  const exchange = createExchangeClient({
    ...{ apiUrl: settings.api_url, tokenUrl: settings.token_url, clientId: settings.client_id },
    ...(clientKey === undefined
      ? { clientSecret: clientSecret! }
      : { privateKeyJwt: readKey(clientKey, 'ec', 'name the JWK (ES256) of the client.') }),
    ...{ workspaceId: settings.workspace_id, authorityId: settings.authority_id },
    ...(isSigning && {
      key: { kid: kid!, privateJwk: readKey(keyFile!, 'ed25519', `write one by “${program} exchange key new FILE”.`) },
    }),
    retry: {
      onWait: (problem, waitMs) => tell(`${problem} Trying again in ${Math.max(1, Math.round(waitMs / 1000))} s.`),
    },
    onSigned: (messages) => {
      if (keep !== undefined) appendSigned(keep, messages);
      signed.push(...messages);
    },
  });
  return { exchange, settings, signed };
}
