import { readFileSync } from 'node:fs';
import { followFile } from '@longwave/service-kit/follow-file';
import { actions, type Permissions, type S3Key } from './permissions.ts';

export interface S3ServerConfig {
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  /** The keys of now. One without permissions may do everything. */
  readonly keys: () => readonly S3Key[];
  readonly region: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isPermissions = (value: unknown): value is Permissions =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((list) => Array.isArray(list) && list.every((action) => actions.includes(action)));

/** A JSON array of `{accessKey, secretKey, permissions?}`. Undefined when it is anything else. */
function tryParseKeys(json: string): readonly S3Key[] | undefined {
  try {
    const list = JSON.parse(json) as unknown;
    if (!Array.isArray(list)) return undefined;
    const keys = list.map((entry: Partial<Record<keyof S3Key, unknown>>): S3Key | undefined => {
      const { accessKey, secretKey, permissions, ...unknown } = entry;
      if (Object.keys(unknown).length > 0 || !isText(accessKey) || !isText(secretKey)) return undefined;
      if (permissions === undefined) return { accessKey, secretKey };
      return isPermissions(permissions) ? { accessKey, secretKey, permissions } : undefined;
    });
    return keys.every((key) => key !== undefined) ? keys : undefined;
  } catch {
    return undefined;
  }
}

/** The keys of a file. Throws when it holds anything but a list of keys. */
function readKeys(file: string): readonly S3Key[] {
  const keys = tryParseKeys(readFileSync(file, 'utf8'));
  if (!keys?.length) throw new Error('S3_KEYS_FILE is not a JSON array of {accessKey, secretKey, permissions?}');
  return keys;
}

/**
 * Keys come from S3_KEYS_FILE, which is read again when it changes, or there is one, S3_ACCESS_KEY with S3_SECRET_KEY.
 * @throws Error naming every variable that is missing or malformed
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  onError: (error: unknown) => void = () => undefined,
): S3ServerConfig {
  const wrong: string[] = [];
  const required = (name: string) => {
    const value = environment[name];
    if (!value) wrong.push(`${name} is missing`);
    return value ?? '';
  };
  const listen = /^(.+):(\d{1,5})$/.exec(required('S3_LISTEN'));
  if (environment['S3_LISTEN'] && !listen) wrong.push('S3_LISTEN is not host:port');
  const keysFile = environment['S3_KEYS_FILE'];
  const own = keysFile ? [] : [{ accessKey: required('S3_ACCESS_KEY'), secretKey: required('S3_SECRET_KEY') }];
  const config: S3ServerConfig = {
    folder: required('S3_FOLDER'),
    host: (listen?.[1] ?? '').replace(/^\[(.*)\]$/, '$1'),
    port: Number(listen?.[2]),
    keys: keysFile ? followFile(keysFile, readKeys(keysFile), () => readKeys(keysFile), onError) : () => own,
    region: required('S3_REGION'),
  };
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  return config;
}
