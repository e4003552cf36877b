import * as bucket from './bucket-routes.ts';
import type { Exchange } from './exchange.ts';
import * as multipart from './multipart-routes.ts';
import * as object from './object-routes.ts';
import type { Action } from './permissions.ts';
import type { RequestTarget } from './request-target.ts';
import { S3Error } from './s3-error.ts';

interface Route {
  readonly method: string;
  readonly level: 'service' | 'bucket' | 'object';
  /** The permission for the object, or for the prefix of a listing. Without it any key may call, or the handler checks. */
  readonly action?: Action;
  readonly requires?: readonly string[];
  readonly allows?: readonly string[];
  readonly handle: (exchange: Exchange) => Promise<void>;
}

const listParameters = [
  'list-type',
  'prefix',
  'delimiter',
  'marker',
  'max-keys',
  'start-after',
  'continuation-token',
  'encoding-type',
  'fetch-owner',
];

/** A request fits the route that has all its required parameters and no other than these and the allowed ones. */
const routes: readonly Route[] = [
  { method: 'GET', level: 'service', action: 'list', handle: bucket.listBuckets },
  { method: 'PUT', level: 'bucket', action: 'write', handle: bucket.createBucket },
  { method: 'HEAD', level: 'bucket', handle: bucket.headBucket },
  { method: 'GET', level: 'bucket', requires: ['location'], handle: bucket.getBucketLocation },
  {
    method: 'GET',
    level: 'bucket',
    action: 'list',
    requires: ['uploads'],
    allows: ['prefix', 'delimiter', 'key-marker', 'upload-id-marker', 'max-uploads', 'encoding-type'],
    handle: bucket.listMultipartUploads,
  },
  { method: 'GET', level: 'bucket', action: 'list', allows: listParameters, handle: bucket.listObjects },
  { method: 'POST', level: 'bucket', requires: ['delete'], handle: bucket.deleteObjects },
  {
    method: 'PUT',
    level: 'object',
    action: 'write',
    requires: ['partNumber', 'uploadId'],
    handle: multipart.uploadPart,
  },
  { method: 'PUT', level: 'object', action: 'write', handle: object.putObject },
  {
    method: 'GET',
    level: 'object',
    action: 'write',
    requires: ['uploadId'],
    allows: ['max-parts', 'part-number-marker', 'encoding-type'],
    handle: multipart.listParts,
  },
  { method: 'GET', level: 'object', action: 'read', allows: object.responseOverrides, handle: object.getObject },
  { method: 'HEAD', level: 'object', action: 'read', allows: object.responseOverrides, handle: object.getObject },
  { method: 'POST', level: 'object', action: 'write', requires: ['uploads'], handle: multipart.createMultipartUpload },
  {
    method: 'POST',
    level: 'object',
    action: 'write',
    requires: ['uploadId'],
    handle: multipart.completeMultipartUpload,
  },
  {
    method: 'DELETE',
    level: 'object',
    action: 'write',
    requires: ['uploadId'],
    handle: multipart.abortMultipartUpload,
  },
  { method: 'DELETE', level: 'object', action: 'write', handle: object.deleteObject },
];

/** @throws S3Error 405 for another method, 501 for parameters of an operation that this server does not have */
export function findRoute(method: string, target: RequestTarget): Route {
  const level = target.bucket === '' ? 'service' : target.key === '' ? 'bucket' : 'object';
  const candidates = routes.filter((route) => route.level === level && route.method === method);
  if (candidates.length === 0) throw new S3Error(405, 'MethodNotAllowed');
  // Parameters of the signature, and the operation's name that some clients add.
  const names = [...target.query.keys()].filter((name) => !/^x-amz-/i.test(name) && name !== 'x-id');
  const route = candidates.find(
    ({ requires = [], allows = [] }) =>
      requires.every((name) => names.includes(name)) &&
      names.every((name) => requires.includes(name) || allows.includes(name)),
  );
  if (!route) throw new S3Error(501, 'NotImplemented', 'This operation is not supported');
  return route;
}
