import { expect, test } from '@jest/globals';
import { configurationTable } from '@longwave/test-kit';
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
  const { shown, read } = configurationTable('encoder', readConfiguration, required);
  expect(shown).toEqual(read);
});
