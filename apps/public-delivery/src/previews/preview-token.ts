import { mintToken, openToken, type TokenKeys } from '@longwave/delivery-token';
import { idBytes, idFromBytes } from '@longwave/ids';

/** How long a preview is kept and its address opens. */
export const previewMs = 3_600_000;

/** Makes and reads the token of a preview, which opens for nothing else and nothing else opens for it. */
export interface PreviewTokens {
  mint(previewId: string, at: Date): string;
  /** Undefined for a token that is not ours or has another purpose. */
  open(token: string, at: Date): { readonly previewId: string; readonly expired: boolean } | undefined;
}

/** @param host of the media URL */
export function createPreviewTokens(keys: TokenKeys, host: string): PreviewTokens {
  const secondsOf = (at: Date) => Math.floor(at.getTime() / 1_000);
  return {
    mint: (previewId, at) =>
      mintToken(keys, {
        ...{ purpose: 'prv', host, flags: 0, workspaceOrdinal: 0, slot: 0, variant: 0 },
        startsAt: secondsOf(at),
        expiresAt: secondsOf(at) + previewMs / 1_000,
        subject: idBytes(previewId),
        binding: Buffer.alloc(16),
      }),
    open: (token, at) => {
      const opened = openToken(keys, 'prv', host, token, secondsOf(at));
      if (!opened.claims) return undefined;
      return { previewId: idFromBytes('prv', opened.claims.subject), expired: !opened.ok };
    },
  };
}
