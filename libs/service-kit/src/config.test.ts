import { expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  busConfig,
  commonConfig,
  ConfigError,
  fetchConfig,
  objectStoreConfig,
  readConfig,
  readKafkaConfig,
} from './config.ts';
import { proxyProtocolSetting } from './proxy-protocol-setting.ts';

const tls = { TLS_CA: 'ca.pem', TLS_CERT: 'cert.pem', TLS_KEY: 'key.pem' };
const common = z.object(commonConfig);

function messageOf(schema: z.ZodType, environment: Record<string, string | undefined>): string {
  try {
    readConfig(schema, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

test('every missing and malformed variable is named at once, and no right one', () => {
  const schema = z.object({ ...commonConfig, ...busConfig, ...objectStoreConfig });
  const message = messageOf(schema, {
    LOG_LEVEL: 'loud',
    HEALTH_LISTEN: 'everywhere',
    TLS_CA: 'ca.pem',
    TLS_CERT: '',
    REDIS_URL: 'http://localhost',
    S3_ENDPOINT: 'http://localhost:9000',
  });
  const named = message.split('\n').flatMap((line) => /^ {2}(\w+): ./.exec(line)?.[1] ?? []);
  expect(named.sort()).toEqual([
    'HEALTH_LISTEN',
    'LOG_LEVEL',
    'REDIS_URL',
    'S3_ACCESS_KEY',
    'S3_SECRET_KEY',
    'TLS_CERT',
    'TLS_KEY',
  ]);
});

test('what is wrong is said without the value, which may be a secret', () => {
  const schema = z.object({ DATABASE_URL: z.url({ protocol: /^postgresql$/ }), LEVEL: z.enum(['info']) });
  expect(messageOf(schema, { DATABASE_URL: 'mysql://u:hunter2@db', LEVEL: 'hunter3' })).not.toMatch(/hunter/);
});

test('the configuration has its defaults, ignores other variables and cannot be changed', () => {
  const config = readConfig(common, { ...tls, HEALTH_LISTEN: '127.0.0.1:9000', HOME: '/root' });
  const defaults = { LOG_LEVEL: 'info', PRIVATE_PORTS_ON_ALL_ADDRESSES: 'false' };
  expect(config).toEqual({ ...tls, ...defaults, HEALTH_LISTEN: '127.0.0.1:9000' });
  expect(() => Object.assign(config, { LOG_LEVEL: 'debug' })).toThrow(TypeError);
});

test('a public address of a private port and two public addresses of one origin are named beside all other faults', () => {
  const schema = z.object({ ...common.shape, BASE_URL: z.url(), MEDIA_URL: z.url() });
  const message = messageOf(schema, {
    ...{ ...tls, LOG_LEVEL: 'loud', HEALTH_LISTEN: '8.8.8.8:9000', GRPC_LISTEN: '8.8.8.8:9001' },
    ...{ BASE_URL: 'https://pod.example', MEDIA_URL: 'https://pod.example:8443', API_URL: 'https://pod.example' },
  });
  // This schema has no GRPC_LISTEN and no API_URL.
  expect(message.match(/^ {2}\w+/gm)).toEqual(['  LOG_LEVEL', '  HEALTH_LISTEN', '  MEDIA_URL']);
});

test('the PROXY protocol is off unless it is turned on, for which somebody must be allowed to connect', () => {
  const schema = z.object({ PROXY_PROTOCOL: proxyProtocolSetting, TRUSTED_PROXIES: z.string().default('') });
  expect(readConfig(schema, {}).PROXY_PROTOCOL).toBe(false);
  expect(readConfig(schema, { PROXY_PROTOCOL: 'on', TRUSTED_PROXIES: '10.0.0.1' }).PROXY_PROTOCOL).toBe(true);
  for (const wrong of ['on', 'yes']) expect(messageOf(schema, { PROXY_PROTOCOL: wrong })).toContain('PROXY_PROTOCOL: ');
});

test('the bus is Kafka when brokers are named, and Redis Streams when the variable is absent', () => {
  const bus = (environment: Record<string, string>) =>
    readConfig(z.object(busConfig), { REDIS_URL: 'redis://localhost:6379', ...environment }).KAFKA_BROKERS;
  expect(bus({ KAFKA_BROKERS: 'one:9092, two:9092' })).toEqual(['one:9092', 'two:9092']);
  expect(bus({})).toBeUndefined();
});

test('a login at Kafka has all of its parts and keeps a password in plain text inside TLS, or every fault is named', () => {
  const faultsOf = (environment: Record<string, string>) =>
    messageOf(z.object(busConfig), { REDIS_URL: 'redis://localhost:6379', ...environment }).match(/^ {2}\w+/gm);
  const kafka = { KAFKA_BROKERS: 'one:9092' };
  const login = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_USERNAME: 'management', KAFKA_PASSWORD: 'hunter2' };
  const read = (environment: Record<string, string>) => readKafkaConfig({ ...kafka, ...environment });
  expect(read({})).toEqual({ KAFKA_BROKERS: ['one:9092'], KAFKA_TLS: 'false' });
  expect(read({ ...login, KAFKA_TLS: 'true' })).toMatchObject({ ...login, KAFKA_TLS: 'true' });
  expect(read({ ...login, KAFKA_SASL_MECHANISM: 'scram-sha-256' })).toMatchObject({ KAFKA_TLS: 'false' });
  expect(faultsOf({ ...kafka, ...login })).toEqual(['  KAFKA_SASL_MECHANISM']);
  expect(faultsOf({ ...kafka, KAFKA_PASSWORD: 'hunter2' })).toEqual(['  KAFKA_SASL_MECHANISM', '  KAFKA_USERNAME']);
  expect(faultsOf({ ...kafka, KAFKA_SASL_MECHANISM: 'plain' })).toEqual([
    '  KAFKA_USERNAME',
    '  KAFKA_PASSWORD',
    '  KAFKA_SASL_MECHANISM',
  ]);
  expect(faultsOf({ KAFKA_TLS: 'true' })).toEqual(['  KAFKA_BROKERS']);
  expect(messageOf(z.object(busConfig), { ...kafka, ...login, KAFKA_USERNAME: '' })).not.toContain('hunter2');
});

test('addresses that clients name are fetched from public https only, unless origins are named', () => {
  const allowed = (environment: Record<string, string>) =>
    readConfig(z.object(fetchConfig), environment).FETCH_ALLOW_ORIGINS;
  expect(allowed({})).toEqual([]);
  expect(allowed({ FETCH_ALLOW_ORIGINS: '' })).toEqual([]);
  expect(allowed({ FETCH_ALLOW_ORIGINS: 'http://10.0.0.1:9000, https://files.example' })).toEqual([
    'http://10.0.0.1:9000',
    'https://files.example',
  ]);
  for (const wrong of ['files.example', 'ftp://files.example', 'https://files.example,*'])
    expect(messageOf(z.object(fetchConfig), { FETCH_ALLOW_ORIGINS: wrong })).toContain('FETCH_ALLOW_ORIGINS');
});

test.each(['9000', 'localhost', 'localhost:', ':9000', 'local host:9000', 'localhost:90a'])(
  '%j is no address to listen on',
  (HEALTH_LISTEN) => {
    expect(messageOf(common, { ...tls, HEALTH_LISTEN })).toContain('HEALTH_LISTEN: expected host:port');
  },
);
