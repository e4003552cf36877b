import { createHash } from 'node:crypto';
import type { ResourceView } from '@longwave/events';
import { strongTagsOf } from '@longwave/http-kit';
import { Problem } from '@longwave/problems';

/**
 * Strong ETag of a revision (RFC 9110 §8.8.3), the form that management's `If-Match` takes.
 * @param others what is shown with it and changes without a revision; a third part of the tag stands for it
 */
export function etagOf({ version, digest }: Pick<ResourceView, 'version' | 'digest'>, others?: object): string {
  const third = others && `.${createHash('sha256').update(JSON.stringify(others)).digest('hex').slice(0, 8)}`;
  return `"${version}.${digest.slice(0, 16)}${third ?? ''}"`;
}

/** The tags of `If-Match`, which guards the revision alone. */
const revisionTagsOf = (header: string) =>
  strongTagsOf(header).map((tag) => tag.replace(/^("\d{1,9}\.[0-9a-f]{16})\.[0-9a-f]{8}"$/, '$1"'));

/** `*` asks only that the object exists, which is checked anyway. */
const isStated = (header: string | undefined): header is string => header !== undefined && header.trim() !== '*';

const stale = ({ version }: ResourceView) =>
  new Problem('version_conflict', `The current version is ${version}. Read it and send a new request.`);

/** The form of `etagOf`. */
const ownTag = /^"\d{1,9}\.[0-9a-f]{16}"$/;

/**
 * The one tag of `If-Match` that goes with a command on the resource: management compares it in the command's own
 * transaction, after the search for an earlier answer under the same key. Throws `version_conflict` when no tag can name
 * a version of anything here (RFC 9110 §13.1.1). It reads the resource only to choose among several tags, and for that refusal.
 */
export async function guardFor(
  header: string | undefined,
  getResource: () => Promise<ResourceView>,
): Promise<string | undefined> {
  if (!isStated(header)) return undefined;
  const tags = revisionTagsOf(header);
  if (tags.length === 1 && ownTag.test(tags[0]!)) return tags[0];
  const resource = await getResource();
  const tag = tags.find((one) => one === etagOf(resource)) ?? tags.find((one) => ownTag.test(one));
  if (tag === undefined) throw stale(resource);
  return tag;
}

/** Throws `version_conflict` when `If-Match` names another version than the resource's, or the resource has no version (RFC 9110 §13.1.1). */
export function checkIfMatch(header: string | undefined, resource: ResourceView | undefined): void {
  if (!isStated(header)) return;
  if (!resource) throw new Problem('version_conflict', 'This has no version: send the request without If-Match.');
  if (!revisionTagsOf(header).includes(etagOf(resource))) throw stale(resource);
}
