import { actions, type Permissions, type S3Key } from './permissions.ts';

export interface S3ServerConfig {
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  /** The first may do everything. */
  readonly keys: readonly S3Key[];
  readonly region: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isPermissions = (value: unknown): value is Permissions =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((list) => Array.isArray(list) && list.every((action) => actions.includes(action)));

/** S3_FURTHER_KEYS: a JSON array of `{accessKey, secretKey, permissions}`. Undefined when it is anything else. */
function tryParseKeys(json: string): readonly S3Key[] | undefined {
  try {
    const list = JSON.parse(json) as unknown;
    if (!Array.isArray(list)) return undefined;
    const keys = list.map((entry: Partial<Record<keyof S3Key, unknown>>): S3Key | undefined => {
      const { accessKey, secretKey, permissions, ...unknown } = entry;
      if (Object.keys(unknown).length > 0 || !isText(accessKey) || !isText(secretKey)) return undefined;
      return isPermissions(permissions) ? { accessKey, secretKey, permissions } : undefined;
    });
    return keys.every((key) => key !== undefined) ? keys : undefined;
  } catch {
    return undefined;
  }
}

/** @throws Error naming every variable that is missing or malformed */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): S3ServerConfig {
  const wrong: string[] = [];
  const required = (name: string) => {
    const value = environment[name];
    if (!value) wrong.push(`${name} is missing`);
    return value ?? '';
  };
  const listen = /^(.+):(\d{1,5})$/.exec(required('S3_LISTEN'));
  if (environment['S3_LISTEN'] && !listen) wrong.push('S3_LISTEN is not host:port');
  const further = tryParseKeys(environment['S3_FURTHER_KEYS'] ?? '[]');
  if (!further) wrong.push('S3_FURTHER_KEYS is not a JSON array of {accessKey, secretKey, permissions}');
  const config: S3ServerConfig = {
    folder: required('S3_FOLDER'),
    host: (listen?.[1] ?? '').replace(/^\[(.*)\]$/, '$1'),
    port: Number(listen?.[2]),
    keys: [{ accessKey: required('S3_ACCESS_KEY'), secretKey: required('S3_SECRET_KEY') }, ...(further ?? [])],
    region: required('S3_REGION'),
  };
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  return config;
}
