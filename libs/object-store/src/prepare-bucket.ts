import { createObjectStore, type ObjectStoreOptions } from './object-store.ts';
import { createS3Client } from './s3-client.ts';

/**
 * Makes the bucket unless it is there, and gives its users the rights of a policy. Twice is harmless.
 * @param options with a key that may do so
 * @param policy a bucket policy; one that the bucket has is replaced
 */
export async function prepareBucket(options: ObjectStoreOptions, policy: object): Promise<void> {
  await createObjectStore(options).ensureBucket();
  await createS3Client(options.endpoint, options).setBucketPolicy(options.bucket, JSON.stringify(policy));
}
