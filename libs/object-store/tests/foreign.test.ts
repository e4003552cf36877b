import { expect, test } from '@jest/globals';
import { objectStoreContract } from './object-store.contract.ts';

const {
  TEST_FOREIGN_S3_ENDPOINT: endpoint,
  TEST_FOREIGN_S3_ACCESS_KEY: accessKey,
  TEST_FOREIGN_S3_SECRET_KEY: secretKey,
  TEST_FOREIGN_S3_REGION: region = 'us-east-1',
  REQUIRE_FOREIGN_ENGINES: required,
} = process.env;

if (endpoint && accessKey && secretKey) {
  objectStoreContract('a foreign S3 server', async () => ({
    endpoint,
    accessKey,
    secretKey,
    region,
    stop: async () => {},
  }));
} else if (required === '1') {
  test('a foreign S3 server is required', () => {
    expect({
      TEST_FOREIGN_S3_ENDPOINT: endpoint,
      TEST_FOREIGN_S3_ACCESS_KEY: accessKey && '…',
      TEST_FOREIGN_S3_SECRET_KEY: secretKey && '…',
    }).toBe('set');
  });
} else {
  test.skip('no foreign S3 server: TEST_FOREIGN_S3_ENDPOINT, TEST_FOREIGN_S3_ACCESS_KEY and TEST_FOREIGN_S3_SECRET_KEY are not set', () => {});
}
