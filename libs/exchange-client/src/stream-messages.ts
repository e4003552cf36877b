import { rowsDigestOf, type EvidenceRow, type MessageOf, type SchemaName } from '@longwave/exchange-messages';
import type { MessageResult } from './answers.ts';
import type { Draft, SigningKey } from './message.ts';
import type { SignedStream } from './stream.ts';

type Body<S extends SchemaName> = MessageOf<S>['body'];

/** The subject of a message and its version at the sender. */
interface Source {
  readonly sourceId: string;
  readonly sourceVersion: number;
}

type Report = Omit<Body<'platform-evidence/1'>, 'rows' | 'rows_url' | 'rows_digest'>;
/** Numbers with their rows, or with the address of a file of rows and the digest of its bytes. */
type Evidence =
  (Report & { readonly rows: EvidenceRow[] }) | (Report & { readonly rows_url: string; readonly rows_digest: string });

/** A stream with a function for each kind of message. */
export function withMessages(
  stream: SignedStream,
  sender: {
    readonly authorityId: string;
    readonly key: () => SigningKey;
    readonly useKey: (key: SigningKey) => void;
  },
) {
  const append = async (draft: Draft): Promise<MessageResult> => (await stream.append([draft]))[0]!;
  return {
    ...stream,

    /** An episode as it stands: the whole of it. */
    snapshot: (source: Source, body: Body<'content-snapshot/1'>) =>
      append({ schema: 'content-snapshot/1', ...source, body }),

    /** Takes one version of an episode back for good. */
    revoke: (source: Source, body: Body<'content-revocation/1'>) =>
      append({ schema: 'content-revocation/1', ...source, body }),

    /** What a surface can play, request and measure. */
    capability: (sourceVersion: number, body: Body<'surface-capability/1'>) =>
      append({ schema: 'surface-capability/1', sourceId: body.surface_id, sourceVersion, body }),

    /** A lasting public address. */
    alias: (sourceVersion: number, body: Body<'delivery-alias/1'>) =>
      append({ schema: 'delivery-alias/1', sourceId: body.alias, sourceVersion, body }),

    /** Numbers of the platform. */
    evidence: (source: Source, body: Evidence) =>
      append({
        ...{ schema: 'platform-evidence/1', ...source },
        body: 'rows' in body ? { ...body, rows_digest: rowsDigestOf(body.rows) } : body,
      }),

    /** Puts another registered key in the place of the present one. It signs this message and all later ones of the client. */
    rotate: async (
      sourceVersion: number,
      to: { readonly successor: SigningKey; readonly overlapUntil: string; readonly cause: string },
    ): Promise<MessageResult> => {
      const body = {
        ...{ retire_kid: sender.key().kid, successor_kid: to.successor.kid },
        ...{ overlap_until: to.overlapUntil, cause: to.cause },
      };
      const subject = { sourceId: sender.authorityId, sourceVersion };
      const result = await append({ schema: 'authority-rotation/1', ...subject, body, signedBy: to.successor });
      sender.useKey(to.successor);
      return result;
    },
  };
}

export type ExchangeStream = ReturnType<typeof withMessages>;
