import type { ObjectRights } from '@longwave/services';

type Right = ObjectRights[string][number];

/** The S3 actions behind a right on objects, and behind the right to list. */
const actions: Readonly<Record<Right, readonly string[]>> = {
  read: ['s3:GetObject'],
  write: ['s3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'],
  list: ['s3:ListBucket', 's3:ListBucketMultipartUploads'],
};

interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Principal: { readonly AWS: readonly string[] };
  readonly Action: readonly string[];
  readonly Resource: readonly string[];
}

/**
 * The statements about objects for one key, whose longest prefix decides. A policy knows no longest prefix: a refusal always wins, so the
 * rights may not come back below a prefix that has lost them; throws where they do.
 */
function objectStatements(bucket: string, accessKey: string, rights: ObjectRights, right: 'read' | 'write') {
  const prefixes = Object.keys(rights);
  const isBelow = (prefix: string, others: readonly string[]) => others.some((other) => prefix.startsWith(other));
  const allowed = prefixes.filter((prefix) => rights[prefix]!.includes(right));
  const refused = prefixes.filter((prefix) => !allowed.includes(prefix) && isBelow(prefix, allowed));
  if (allowed.some((prefix) => isBelow(prefix, refused)))
    throw new Error(`${right} comes back below a prefix without it; a bucket policy cannot say this`);
  const statement = (effect: Statement['Effect'], of: readonly string[]): readonly Statement[] =>
    of.length === 0
      ? []
      : [
          {
            ...{ Effect: effect, Principal: { AWS: [accessKey] }, Action: actions[right] },
            Resource: of.map((prefix) => `arn:aws:s3:::${bucket}/${prefix}*`),
          },
        ];
  return [...statement('Allow', allowed), ...statement('Deny', refused)];
}

/**
 * The bucket policy (2012-10-17) that gives keys their rights of the manifest on an S3 server whose users are named by their access
 * keys. Whoever may list something may list the names of the whole bucket.
 */
export function bucketPolicy(
  bucket: string,
  keys: readonly { readonly accessKey: string; readonly rights: ObjectRights }[],
): object {
  const listing = keys.filter(({ rights }) => Object.values(rights).some((each) => each.includes('list')));
  return {
    Version: '2012-10-17',
    Statement: [
      ...keys.flatMap(({ accessKey, rights }) =>
        (['read', 'write'] as const).flatMap((right) => objectStatements(bucket, accessKey, rights, right)),
      ),
      ...listing.map(({ accessKey }): Statement => ({
        ...{ Effect: 'Allow', Principal: { AWS: [accessKey] }, Action: actions.list },
        Resource: [`arn:aws:s3:::${bucket}`],
      })),
    ],
  };
}
