import { mintToken, neverExpires, openToken, type TokenKeys } from '@longwave/delivery-token';
import { idBytes, idFromBytes } from '@longwave/ids';
import { bindingMs, type Play } from './bound-plays.ts';
import { shortIdOf } from '../arrangements/arrangement-table.ts';

const nobody = Buffer.alloc(16);
const dayMs = 24 * 3_600_000;
const unboundMs = 2 * dayMs;
const plain = { flags: 0, workspaceOrdinal: 0, slot: 0, variant: 0 };

/** The contents of an arrangement token. */
interface PlayAddress {
  /** The first 16 bytes of the arrangement's id, hex. */
  readonly shortId: string;
  readonly decisionId: string | undefined;
  readonly expired: boolean;
  /** When the binding began, rounded up to a second; without a binding, the start of the day on which the token was made. */
  readonly startedAt: Date;
}

/** Makes and reads the two tokens of progressive audio: the endless alias and the arrangement token of one play. */
export interface PlayTokens {
  mintAlias(episodeId: string): string;
  /** The same play gives the same token: it expires 24 h after the binding began, or, without a binding, a day after today. */
  mintPlay(play: Play, at: Date): string;
  /** Undefined for a token that is not ours or has another purpose. */
  openPlay(token: string, at: Date): PlayAddress | undefined;
}

/** @param host of the media URL */
export function createPlayTokens(keys: TokenKeys, host: string): PlayTokens {
  const seconds = (ms: number) => Math.ceil(ms / 1000);
  return {
    mintAlias: (episodeId) =>
      mintToken(keys, {
        ...plain,
        purpose: 'enc',
        host,
        // It is stored and found by its text, never opened, so its keys need not follow the clock.
        startsAt: 0,
        expiresAt: neverExpires,
        subject: idBytes(episodeId),
        binding: nobody,
      }),
    mintPlay: ({ arrangement, binding }, at) => {
      const [startsMs, lifeMs] = binding
        ? [binding.startedAt.getTime(), bindingMs]
        : [Math.floor(at.getTime() / dayMs) * dayMs, unboundMs];
      return mintToken(keys, {
        ...plain,
        purpose: 'arr',
        host,
        startsAt: Math.floor(startsMs / 1000),
        expiresAt: seconds(startsMs + lifeMs),
        subject: Buffer.from(shortIdOf(arrangement.id), 'hex'),
        binding: binding ? idBytes(binding.decisionId) : nobody,
      });
    },
    openPlay: (token, at) => {
      const opened = openToken(keys, 'arr', host, token, Math.floor(at.getTime() / 1000));
      if (!opened.claims && !opened.ok) return undefined;
      const { subject, binding, expiresAt } = opened.claims!;
      const decisionId = binding.equals(nobody) ? undefined : idFromBytes('dec', binding);
      const startedAt = new Date(expiresAt * 1000 - (decisionId === undefined ? unboundMs : bindingMs));
      return { shortId: subject.toString('hex'), decisionId, expired: !opened.ok, startedAt };
    },
  };
}
