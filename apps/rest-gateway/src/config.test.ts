import { expect, test } from '@jest/globals';
import { configurationTable } from '@longwave/test-kit';
import { readConfiguration } from './config.ts';

const required = {
  HEALTH_LISTEN: '127.0.0.1:1',
  HTTP_LISTEN: '127.0.0.1:2',
  MANAGEMENT_ADDRESS: '127.0.0.1:3',
  AUTH_SERVER_ADDRESS: '127.0.0.1:4',
  ANALYTICS_SINK_ADDRESS: '127.0.0.1:5',
  PUBLIC_DELIVERY_ADDRESS: '127.0.0.1:6',
  TLS_CA: 'ca.pem',
  TLS_CERT: 'cert.pem',
  TLS_KEY: 'key.pem',
  REDIS_URL: 'redis://127.0.0.1:7',
  BASE_URL: 'http://127.0.0.1:8',
  MEDIA_URL: 'http://127.0.0.1:9',
};

test('the page of the service lists every variable with its default', () => {
  const { shown, read } = configurationTable('rest-gateway', readConfiguration, required);
  expect(shown).toEqual(read);
});
