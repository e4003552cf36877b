import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { createObjectStore, type ObjectStore, type ObjectStoreOptions } from '@longwave/object-store';
import { services, type ObjectRights, type ServiceName } from '@longwave/services';
import type { Check } from '../checks/check.ts';
import { within } from '../checks/within.ts';
import { sendAsPage } from './send-as-page.ts';

const part = 'object store';
const bytes = Buffer.from('longwave doctor\n');

/** The rights that a key should have under a prefix. */
interface Probe {
  readonly prefix: string;
  readonly rights: ObjectRights[string];
}

/** The rights of a service where the manifest lets it write; undefined for one that may write nothing. Without a service: all rights. */
export function probeOf(service: ServiceName | undefined): Probe | undefined {
  if (service === undefined) return { prefix: '', rights: ['read', 'write', 'list'] };
  const [found] = Object.entries(services[service].objects ?? {}).filter(([, rights]) => rights.includes('write'));
  return found && { prefix: found[0], rights: found[1] };
}

const adviceByCode: Readonly<Record<string, string>> = {
  NoSuchBucket: 'Management makes it where its key may. Else make it yourself, or check S3_BUCKET.',
  AccessDenied: 'Give the key its rights: docs/engines.md#one-login-for-each-service has them by service.',
  InvalidAccessKeyId: 'Check S3_ACCESS_KEY: the store does not know it.',
  SignatureDoesNotMatch: 'Check S3_SECRET_KEY and S3_REGION.',
  RequestTimeTooSkewed: 'Synchronise both machines by NTP.',
};

const fileSharing =
  'Let the bucket answer pages of BASE_URL (CORS): methods PUT, POST and GET, the header Content-Type, and ETag exposed.';

async function attempt(name: string, work: () => Promise<unknown>, otherAdvice?: string): Promise<Check> {
  try {
    await within(work);
    return { part, name, well: true, says: 'allowed' };
  } catch (error) {
    const { message, code = '' } = error as Error & { readonly code?: string };
    const advice =
      adviceByCode[code] ??
      otherAdvice ??
      'Check S3_ENDPOINT, the firewall, and for https an authority of your own in NODE_EXTRA_CA_CERTS.';
    return { part, name, well: false, says: message || code, advice };
  }
}

async function assertSame(store: ObjectStore, key: string) {
  if (!(await buffer(await store.get(key))).equals(bytes)) throw new Error('it answered other bytes than were put');
}

async function assertListed(store: ObjectStore, key: string) {
  for await (const listed of store.list(key)) if (listed.key === key) return;
  throw new Error('it does not list an object that was put');
}

/**
 * The bucket of S3_BUCKET: puts an object of a few bytes, gets, lists and deletes it, as far as the key of the service should be able to.
 * @param service whose key it is; undefined: one that may do everything
 * @param baseUrl where the console is: whether its pages may send files there is looked at too
 */
export async function checkObjectStore(
  options: ObjectStoreOptions,
  service: ServiceName | undefined,
  baseUrl?: string,
): Promise<readonly Check[]> {
  const probe = probeOf(service);
  if (probe === undefined) return [];
  const store = createObjectStore(options);
  const key = `${probe.prefix}longwave-doctor-${randomUUID()}`;
  const put = await attempt(`put in ${options.bucket}`, () => store.put(key, bytes, { contentType: 'text/plain' }));
  if (!put.well) return [put];
  const checks = [put];
  if (probe.rights.includes('read')) checks.push(await attempt('get', () => assertSame(store, key)));
  if (probe.rights.includes('list')) checks.push(await attempt('list', () => assertListed(store, key)));
  if (baseUrl !== undefined && URL.canParse(baseUrl)) {
    const limits = { expiresInSeconds: 60, sizeBytes: bytes.length };
    const send = async () => sendAsPage(await store.presignPut(key, limits), bytes, new URL(baseUrl).origin);
    checks.push(await attempt('put by a page', send, fileSharing));
  }
  const deleted = await attempt('delete', () => store.remove(key));
  checks.push(deleted.well ? deleted : { ...deleted, says: `${deleted.says}. The object ${key} stays` });
  return checks;
}
