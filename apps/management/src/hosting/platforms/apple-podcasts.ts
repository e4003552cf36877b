import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SignJWT } from 'jose';
import { z } from 'zod';
import type {
  Platform,
  PlatformAccess,
  PlatformAction,
  PlatformRequest,
  PlatformStatement,
  Submission,
} from './platform.ts';

/** The settings of an installation (docs/platforms.md#you-run-an-installation). */
export interface AppleSettings {
  readonly APPLE_PODCASTS_URL?: string | undefined;
  readonly APPLE_PODCASTS_ISSUER_ID?: string | undefined;
  readonly APPLE_PODCASTS_KEY_ID?: string | undefined;
  readonly APPLE_PODCASTS_KEY_FILE?: string | undefined;
}

const title = 'Apple Podcasts';
/** As App Store Connect has it: a token lives for 20 minutes at most. */
const audience = 'appstoreconnect-v1';
const tokenSeconds = 600;

const text = z.string().min(1).max(200);
const words = z.string().max(1000);

/** The document of a submission. Members that we do not know are passed over: the documentation may add some. */
const document = z.object({
  data: z.object({
    id: text,
    attributes: z.object({
      externalKey: text,
      playlistUrl: z.string(),
      state: z.enum(['PENDING', 'ACCEPTED', 'REJECTED', 'WITHDRAWN']),
      reason: words.optional(),
    }),
  }),
  meta: z.object({ requestId: text }).partial().optional(),
});
const refusal = z.object({
  errors: z.array(z.object({ title: words.optional(), detail: words.optional() })).min(1),
});

/** An answer's text by a schema; undefined when it is another thing. */
function tryParse<S extends z.ZodType>(schema: S, body: string): z.output<S> | undefined {
  try {
    return schema.safeParse(JSON.parse(body)).data;
  } catch {
    return undefined;
  }
}

const wordsMax = 900;
const reasonOf = ({ errors }: z.output<typeof refusal>): string =>
  errors
    .flatMap(({ title: head, detail }) => detail ?? head ?? [])
    .join(' ')
    .slice(0, wordsMax) || 'No reason was given.';

function statementOf(
  action: PlatformAction,
  found: z.output<typeof document>,
  submission: Submission,
): PlatformStatement {
  const { id: externalId, attributes } = found.data;
  const receiptId = found.meta?.requestId;
  const contradicts = (known: string): PlatformStatement => ({ kind: 'conflicting', known, receiptId });
  if (attributes.externalKey !== submission.id)
    return contradicts(`${title} answered about a submission with another key.`);
  if (submission.externalId !== undefined && submission.externalId !== externalId)
    return contradicts(`${title} calls the submission “${externalId}” now; it called it “${submission.externalId}”.`);
  if (attributes.playlistUrl !== submission.playlistUrl)
    return contradicts(`${title} holds another playlist address under this submission.`);
  if (action === 'withdraw' && attributes.state !== 'WITHDRAWN')
    return contradicts(
      `${title} took the withdrawal and still calls the submission ${attributes.state.toLowerCase()}.`,
    );
  switch (attributes.state) {
    case 'PENDING':
      return { kind: 'submitted', externalId, receiptId };
    case 'ACCEPTED':
      return { kind: 'accepted', externalId, receiptId };
    case 'WITHDRAWN':
      return { kind: 'withdrawn', externalId, receiptId };
    case 'REJECTED':
      return { kind: 'rejected', reason: attributes.reason || 'No reason was given.', receiptId };
  }
}

/**
 * Apple Podcasts, which takes HLS of episodes through its interface for hosts alone. Its documentation is not public: paths and documents are
 * assumptions, which docs/platforms.md lists and which stand in this file alone. A submission is found again by `externalKey`, our own id.
 *
 * @param root the root of the interface, without a slash at the end
 */
export const applePodcasts = (root: string, authorize: Platform['authorize']): Platform => {
  const at = ({ id }: Submission) => `${root}/v1/hostedVideoSubmissions/${encodeURIComponent(id)}`;
  const send = (url: string, key: string, attributes: Readonly<Record<string, string>>): PlatformRequest => ({
    ...{ method: 'POST', url, headers: { accept: 'application/json', 'idempotency-key': key } },
    body: JSON.stringify({ data: { type: 'hostedVideoSubmissions', attributes } }),
  });
  return {
    title,
    authorize,
    request: {
      submit: ({ id, playlistUrl, episodeGuid, podcastGuid }) =>
        send(`${root}/v1/hostedVideoSubmissions`, id, { externalKey: id, playlistUrl, episodeGuid, podcastGuid }),
      refresh: (submission) => ({ method: 'GET', url: at(submission), headers: { accept: 'application/json' } }),
      withdraw: (submission) =>
        send(`${at(submission)}/withdrawal`, `${submission.id}:withdraw`, { externalKey: submission.id }),
    },
    read: (action, submission, { status, body }) => {
      if (status === 404 && action !== 'submit' && tryParse(refusal, body)) return { kind: 'absent' };
      // 409: it was submitted before, and the answer is what it holds.
      if ((status >= 200 && status < 300) || status === 409) {
        const found = tryParse(document, body);
        return found && statementOf(action, found, submission);
      }
      // Reading is no request that could be refused; the others say nothing of the submission.
      if (action === 'refresh' || status < 400 || [401, 403, 404, 408, 429].includes(status)) return undefined;
      const refused = tryParse(refusal, body);
      return refused && { kind: 'rejected', reason: reasonOf(refused) };
    },
  };
};

/** Signs a token of ten minutes with the key of the file, which is read each time: a replaced one holds at once. Errors quote no key. */
const appleAuthorization =
  (
    keyFile: string,
    { keyId, issuerId }: { readonly keyId: string; readonly issuerId: string },
  ): Platform['authorize'] =>
  async (now) => {
    const key = createPrivateKey(await readFile(keyFile));
    const seconds = Math.floor(now.getTime() / 1000);
    const token = await new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId, typ: 'JWT' })
      .setIssuer(issuerId)
      .setAudience(audience)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + tokenSeconds)
      .sign(key);
    return `Bearer ${token}`;
  };

/** Apple Podcasts as an installation has access to it, or the setting that is missing. */
export function appleAccess(settings: AppleSettings): PlatformAccess {
  const names = [
    'APPLE_PODCASTS_URL',
    'APPLE_PODCASTS_ISSUER_ID',
    'APPLE_PODCASTS_KEY_ID',
    'APPLE_PODCASTS_KEY_FILE',
  ] as const;
  const missing = names.filter((name) => settings[name] === undefined);
  const [root, issuerId, keyId, keyFile] = names.map((name) => settings[name]);
  if (root === undefined || issuerId === undefined || keyId === undefined || keyFile === undefined)
    return {
      missing: `This installation has no access to ${title}. Its operator sets ${missing.join(', ')} of management.`,
    };
  return { platform: applePodcasts(root.replace(/\/+$/, ''), appleAuthorization(keyFile, { keyId, issuerId })) };
}
