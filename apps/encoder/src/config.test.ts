import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { readConfiguration } from './config.ts';

const required = {
  HEALTH_LISTEN: '127.0.0.1:1',
  GRPC_LISTEN: '127.0.0.1:2',
  MANAGEMENT_ADDRESS: '127.0.0.1:3',
  TLS_CA: 'ca.pem',
  TLS_CERT: 'cert.pem',
  TLS_KEY: 'key.pem',
  REDIS_URL: 'redis://127.0.0.1:4',
  S3_ENDPOINT: 'http://127.0.0.1:5',
  S3_ACCESS_KEY: 'access',
  S3_SECRET_KEY: 'secret',
  MEDIA_URL: 'http://127.0.0.1:6',
};

test('the page of the service lists every variable with its default', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../../docs/services/encoder.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([A-Z0-9_]+)` +\| (.*?) +\|/gm)].map(
    ([, name, value]) => [name!, value!] as const,
  );
  const config: Readonly<Record<string, unknown>> = readConfiguration(required);
  expect(rows.map(([name]) => name).sort()).toEqual(Object.keys(config).sort());
  expect(
    rows
      .filter(([, value]) => value === 'required')
      .map(([name]) => name)
      .sort(),
  ).toEqual(Object.keys(required).sort());
  for (const [name, value] of rows) if (value.startsWith('`')) expect(`\`${String(config[name])}\``).toBe(value);
});
