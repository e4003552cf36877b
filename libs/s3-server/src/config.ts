export interface S3ServerConfig {
  readonly folder: string;
  readonly host: string;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
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
  const config: S3ServerConfig = {
    folder: required('S3_FOLDER'),
    host: (listen?.[1] ?? '').replace(/^\[(.*)\]$/, '$1'),
    port: Number(listen?.[2]),
    accessKey: required('S3_ACCESS_KEY'),
    secretKey: required('S3_SECRET_KEY'),
    region: required('S3_REGION'),
  };
  if (wrong.length > 0) throw new Error(wrong.join('; '));
  return config;
}
