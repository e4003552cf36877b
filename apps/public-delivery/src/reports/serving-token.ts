import { mintToken, openToken, type TokenKeys } from '@longwave/delivery-token';
import { idBytes, idFromBytes } from '@longwave/ids';

/** One ad of one decision. */
interface ServingAddress {
  readonly servingId: string;
  readonly decisionId: string;
}

/** The contents of a token for events or clicks. */
interface OpenedServing extends ServingAddress {
  /** The token has expired; its reports are kept and marked as late. */
  readonly late: boolean;
}

/** Reports are on time for this long. Keys live longer, so that later reports are kept too. */
const maxLifeDays = 30;

/** Makes and reads the tokens that name a serving: one for its events, one for its click. */
export interface ServingTokens {
  /**
   * Equal inputs give equal tokens.
   * @param startedAt of the binding
   * @param lifeDays how long reports are on time; at most, and without a policy, 30
   */
  mint(purpose: 'evt' | 'clk', serving: ServingAddress, startedAt: Date, lifeDays?: number): string;
  /** Undefined for a token that is not ours or has another purpose. */
  open(purpose: 'evt' | 'clk', token: string, at: Date): OpenedServing | undefined;
}

/** @param host of the media URL */
export function createServingTokens(keys: TokenKeys, host: string): ServingTokens {
  return {
    mint: (purpose, { servingId, decisionId }, startedAt, lifeDays = maxLifeDays) => {
      const startsAt = Math.floor(startedAt.getTime() / 1000);
      const expiresAt = startsAt + Math.min(lifeDays, maxLifeDays) * 86_400;
      return mintToken(keys, {
        ...{ purpose, host, startsAt, expiresAt },
        ...{ subject: idBytes(servingId), binding: idBytes(decisionId) },
        ...{ flags: 0, workspaceOrdinal: 0, slot: 0, variant: 0 },
      });
    },
    open: (purpose, token, at) => {
      const opened = openToken(keys, purpose, host, token, Math.floor(at.getTime() / 1000));
      if (!opened.claims) return undefined;
      const { subject, binding } = opened.claims;
      return { servingId: idFromBytes('srv', subject), decisionId: idFromBytes('dec', binding), late: !opened.ok };
    },
  };
}
