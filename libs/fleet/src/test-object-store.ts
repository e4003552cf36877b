import { randomBytes } from 'node:crypto';
import { removeDataFolder, temporaryDataFolder } from './data-folder.ts';
import { startObjectStoreServer, type ObjectStoreAccess } from './object-store-server.ts';

export interface TestObjectStore extends ObjectStoreAccess, AsyncDisposable {
  /** A name nobody else uses; the bucket does not exist yet. */
  readonly bucket: string;
  readonly stop: () => Promise<void>;
}

/** A real S3 with a bucket name of its own: the test run's server (`TEST_OBJECT_STORE_*`), or one of our own. */
export async function startTestObjectStore(): Promise<TestObjectStore> {
  const bucket = `test-${randomBytes(8).toString('hex')}`;
  const { TEST_OBJECT_STORE_ENDPOINT, TEST_OBJECT_STORE_ACCESS_KEY, TEST_OBJECT_STORE_SECRET_KEY } = process.env;
  if (TEST_OBJECT_STORE_ENDPOINT && TEST_OBJECT_STORE_ACCESS_KEY && TEST_OBJECT_STORE_SECRET_KEY) {
    const access = {
      endpoint: TEST_OBJECT_STORE_ENDPOINT,
      region: 'us-east-1',
      accessKey: TEST_OBJECT_STORE_ACCESS_KEY,
    };
    const stop = async () => undefined;
    return { ...access, secretKey: TEST_OBJECT_STORE_SECRET_KEY, bucket, stop, [Symbol.asyncDispose]: stop };
  }
  const folder = temporaryDataFolder();
  const server = await startObjectStoreServer({
    folder: folder.inside('objects'),
    accessKey: `LW${randomBytes(8).toString('hex')}`,
    secretKey: randomBytes(20).toString('hex'),
    logFile: folder.logFile('s3-server'),
    pidFolder: folder.pids,
  });
  const stop = async () => {
    await server.stop();
    removeDataFolder(folder);
  };
  const { endpoint, region, accessKey, secretKey } = server;
  return { endpoint, region, accessKey, secretKey, bucket, stop, [Symbol.asyncDispose]: stop };
}
