import { receiveDocument, sendDocument, sendEmpty, type Exchange } from './exchange.ts';
import { parseKey, percentEncode } from './request-target.ts';
import { S3Error } from './s3-error.ts';
import { element, parseItems, type Markup } from './xml.ts';

const maxPageSize = 1000;

export async function listBuckets({ response, storage }: Exchange): Promise<void> {
  const buckets = await storage.listBuckets();
  const list = buckets.map(({ name, createdAt }) =>
    element('Bucket', [element('Name', name), element('CreationDate', createdAt.toISOString())]),
  );
  sendDocument(response, 'ListAllMyBucketsResult', [element('Buckets', list)]);
}

export async function createBucket(exchange: Exchange): Promise<void> {
  const { response, storage, target } = exchange;
  await receiveDocument(exchange);
  await storage.createBucket(target.bucket);
  sendEmpty(response, 200, { location: `/${target.bucket}` });
}

export async function headBucket({ response, storage, target, region }: Exchange): Promise<void> {
  await storage.getBucketFolder(target.bucket);
  sendEmpty(response, 200, { 'x-amz-bucket-region': region });
}

export async function getBucketLocation({ response, storage, target, region }: Exchange): Promise<void> {
  await storage.getBucketFolder(target.bucket);
  // S3 names us-east-1 by an empty text.
  sendDocument(response, 'LocationConstraint', [{ markup: region === 'us-east-1' ? '' : region }]);
}

/** ListObjects and, with `list-type=2`, ListObjectsV2. */
export async function listObjects({ response, storage, target }: Exchange): Promise<void> {
  const { query, bucket } = target;
  const parameter = (name: string) => query.get(name) ?? '';
  const version2 = query.get('list-type') === '2';
  if (query.has('list-type') && !version2) throw new S3Error(400, 'InvalidArgument', 'list-type must be 2');
  const [prefix, delimiter] = [parameter('prefix'), parameter('delimiter')];
  const limit = parsePageSize(query.get('max-keys'));
  const token = query.get('continuation-token');
  const after = version2 ? (token === undefined ? parameter('start-after') : decodeToken(token)) : parameter('marker');
  const encode = encoder(query);

  const { entries, truncated } = await storage.list(bucket, { prefix, delimiter, after, limit });
  const last = truncated ? (entries.at(-1)?.name ?? '') : '';
  const keys = entries.flatMap(({ name, meta }) =>
    meta === undefined
      ? []
      : element('Contents', [
          element('Key', encode(name)),
          element('LastModified', new Date(meta.modifiedAtMs).toISOString()),
          element('ETag', `"${meta.etag}"`),
          element('Size', meta.sizeBytes),
          element('StorageClass', 'STANDARD'),
        ]),
  );
  const prefixes = entries
    .filter((entry) => entry.kind === 'prefix')
    .map((entry) => element('CommonPrefixes', [element('Prefix', encode(entry.name))]));
  sendDocument(response, 'ListBucketResult', [
    element('Name', bucket),
    element('Prefix', encode(prefix)),
    ...(delimiter === '' ? [] : [element('Delimiter', encode(delimiter))]),
    element('MaxKeys', limit),
    ...(query.has('encoding-type') ? [element('EncodingType', 'url')] : []),
    element('IsTruncated', truncated),
    ...(version2
      ? [
          element('KeyCount', entries.length),
          ...(token === undefined ? [] : [element('ContinuationToken', token)]),
          ...(truncated ? [element('NextContinuationToken', encodeToken(last))] : []),
        ]
      : [
          element('Marker', encode(after)),
          ...(truncated && delimiter !== '' ? [element('NextMarker', encode(last))] : []),
        ]),
    ...keys,
    ...prefixes,
  ]);
}

export async function listMultipartUploads({ response, uploads, target }: Exchange): Promise<void> {
  const encode = encoder(target.query);
  const list = await uploads.list(target.bucket, target.query.get('prefix') ?? '');
  sendDocument(response, 'ListMultipartUploadsResult', [
    element('Bucket', target.bucket),
    element('IsTruncated', false),
    ...list.map(({ key, uploadId, createdAtMs }) =>
      element('Upload', [
        element('Key', encode(key)),
        element('UploadId', uploadId),
        element('Initiated', new Date(createdAtMs).toISOString()),
      ]),
    ),
  ]);
}

export async function deleteObjects(exchange: Exchange): Promise<void> {
  const { response, storage, target } = exchange;
  const document = await receiveDocument(exchange);
  const items = parseItems(document, { root: 'Delete', item: 'Object', fields: ['Key'] });
  if (items.length > maxPageSize) throw new S3Error(400, 'MalformedXML', `At most ${maxPageSize} keys`);
  const quiet = /<Quiet>\s*true\s*<\/Quiet>/.test(document);
  const deleted: Markup[] = [];
  for (const { Key } of items) exchange.assertMay('write', Key);
  for (const { Key } of items) {
    await storage.remove(target.bucket, parseKey(Key));
    if (!quiet) deleted.push(element('Deleted', [element('Key', Key)]));
  }
  sendDocument(response, 'DeleteResult', deleted);
}

function parsePageSize(text: string | undefined): number {
  if (text === undefined) return maxPageSize;
  if (!/^\d{1,9}$/.test(text)) throw new S3Error(400, 'InvalidArgument', 'max-keys must be a number');
  return Math.min(Number(text), maxPageSize);
}

function encoder(query: ReadonlyMap<string, string>): (text: string) => string {
  const type = query.get('encoding-type');
  if (type === undefined) return (text) => text;
  if (type !== 'url') throw new S3Error(400, 'InvalidArgument', 'encoding-type must be url');
  return (text) => text.split('/').map(percentEncode).join('/');
}

const encodeToken = (name: string) => Buffer.from(name, 'utf8').toString('base64url');
const decodeToken = (token: string) => Buffer.from(token, 'base64url').toString('utf8');
