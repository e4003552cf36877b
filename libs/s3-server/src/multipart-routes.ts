import { receiveDocument, receiveObject, sendDocument, sendEmpty, uploadHeaders, type Exchange } from './exchange.ts';
import { percentEncode } from './request-target.ts';
import { S3Error } from './s3-error.ts';
import { element, parseItems } from './xml.ts';

const maxPartsPage = 1000;
const maxParts = 10_000;
const uploadIdOf = ({ target }: Exchange) => target.query.get('uploadId') ?? '';

export async function createMultipartUpload({ request, response, uploads, target }: Exchange): Promise<void> {
  const uploadId = await uploads.create(target.bucket, target.key, uploadHeaders(request));
  sendDocument(response, 'InitiateMultipartUploadResult', [
    element('Bucket', target.bucket),
    element('Key', target.key),
    element('UploadId', uploadId),
  ]);
}

export async function uploadPart(exchange: Exchange): Promise<void> {
  const { request, response, uploads, target } = exchange;
  if (request.headers['x-amz-copy-source'] !== undefined)
    throw new S3Error(501, 'NotImplemented', 'Parts cannot be copied from objects');
  const partNumber = Number(target.query.get('partNumber'));
  const part = receiveObject(exchange);
  const meta = await uploads.putPart(target.bucket, target.key, uploadIdOf(exchange), partNumber, part);
  sendEmpty(response, 200, { etag: `"${meta.etag}"` });
}

export async function listParts(exchange: Exchange): Promise<void> {
  const { response, uploads, target } = exchange;
  const number = (name: string, otherwise: number) => {
    const text = target.query.get(name) ?? String(otherwise);
    if (!/^\d{1,9}$/.test(text)) throw new S3Error(400, 'InvalidArgument', `${name} must be a number`);
    return Number(text);
  };
  const marker = number('part-number-marker', 0);
  const limit = Math.min(number('max-parts', maxPartsPage), maxPartsPage);
  const all = await uploads.listParts(target.bucket, target.key, uploadIdOf(exchange));
  const rest = all.filter((part) => part.partNumber > marker);
  const page = rest.slice(0, limit);
  sendDocument(response, 'ListPartsResult', [
    element('Bucket', target.bucket),
    element('Key', target.key),
    element('UploadId', uploadIdOf(exchange)),
    element('PartNumberMarker', marker),
    element('NextPartNumberMarker', page.at(-1)?.partNumber ?? marker),
    element('MaxParts', limit),
    element('IsTruncated', rest.length > page.length),
    ...page.map(({ partNumber, meta }) =>
      element('Part', [
        element('PartNumber', partNumber),
        element('LastModified', new Date(meta.modifiedAtMs).toISOString()),
        element('ETag', `"${meta.etag}"`),
        element('Size', meta.sizeBytes),
      ]),
    ),
  ]);
}

export async function completeMultipartUpload(exchange: Exchange): Promise<void> {
  const { request, response, uploads, target } = exchange;
  const items = parseItems(await receiveDocument(exchange), {
    root: 'CompleteMultipartUpload',
    item: 'Part',
    fields: ['PartNumber', 'ETag'],
  });
  if (items.length > maxParts) throw new S3Error(400, 'MalformedXML', `At most ${maxParts} parts`);
  const parts = items.map((item) => ({
    partNumber: Number(item.PartNumber),
    etag: item.ETag.trim().replace(/^"(.*)"$/, '$1'),
  }));
  // Joining many gigabytes takes longer than the idle timeout.
  response.setTimeout(0);
  const meta = await uploads.complete(target.bucket, target.key, uploadIdOf(exchange), parts);
  sendDocument(response, 'CompleteMultipartUploadResult', [
    element(
      'Location',
      `http://${request.headers.host}/${target.bucket}/${target.key.split('/').map(percentEncode).join('/')}`,
    ),
    element('Bucket', target.bucket),
    element('Key', target.key),
    element('ETag', `"${meta.etag}"`),
  ]);
}

export async function abortMultipartUpload(exchange: Exchange): Promise<void> {
  await exchange.uploads.abort(exchange.target.bucket, exchange.target.key, uploadIdOf(exchange));
  sendEmpty(exchange.response, 204);
}
