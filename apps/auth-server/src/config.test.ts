import { expect, test } from '@jest/globals';
import { configurationTable } from '@longwave/test-kit';
import { readConfiguration } from './config.ts';

const required = {
  HEALTH_LISTEN: '127.0.0.1:1',
  GRPC_LISTEN: '127.0.0.1:2',
  HTTP_LISTEN: '127.0.0.1:3',
  TLS_CA: 'ca.pem',
  TLS_CERT: 'cert.pem',
  TLS_KEY: 'key.pem',
  MANAGEMENT_ADDRESS: '127.0.0.1:9',
  DATABASE_URL: 'postgresql://127.0.0.1:4/identity',
  REDIS_URL: 'redis://127.0.0.1:5',
  PRINCIPAL_PRIVATE_KEY: 'principal.jwk',
  RECEIPT_SIGNING_KEY: 'receipt.jwk',
  ACCESS_TOKEN_SIGNING_KEYS: 'access-token.jwks',
  SECOND_FACTOR_KEYS: 'second-factor.jwks',
  BASE_URL: 'http://127.0.0.1:6',
  API_URL: 'http://127.0.0.1:7',
  MCP_URL: 'http://127.0.0.1:8',
};

test('the page of the service lists every variable with its default', () => {
  // Mails need a server or a folder, so neither variable is required by itself; the address of a server is no https address.
  const readWithMails = ({ MAIL_URL, ...environment }: Readonly<Record<string, string>>) =>
    readConfiguration({ MAIL_FOLDER: 'mail', ...environment, ...(MAIL_URL && { MAIL_URL: 'smtp://127.0.0.1' }) });
  const { shown, read } = configurationTable('auth-server', readWithMails, required);
  expect(shown).toEqual(read);
});
