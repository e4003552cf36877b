import { expect, test } from '@jest/globals';
import { configurationTable } from '@longwave/test-kit';
import { readConfiguration } from './config.ts';

const required = {
  HEALTH_LISTEN: '127.0.0.1:1',
  GRPC_LISTEN: '127.0.0.1:2',
  HTTP_LISTEN: '127.0.0.1:3',
  AUTH_SERVER_ADDRESS: '127.0.0.1:4',
  MANAGEMENT_ADDRESS: '127.0.0.1:5',
  ANALYTICS_SINK_ADDRESS: '127.0.0.1:6',
  TLS_CA: 'ca.pem',
  TLS_CERT: 'cert.pem',
  TLS_KEY: 'key.pem',
  REDIS_URL: 'redis://127.0.0.1:7',
  DATABASE_URL: 'postgres://user:password@127.0.0.1:8/longwave',
  ACCESS_TOKEN_KEYS: 'keys.json',
  BASE_URL: 'http://localhost:9',
  API_URL: 'http://localhost:10',
  MEDIA_URL: 'http://localhost:11',
};

test('the page of the service lists every variable with its default', () => {
  const { shown, read } = configurationTable('hosting-exchange', readConfiguration, required);
  expect(shown).toEqual(read);
});
