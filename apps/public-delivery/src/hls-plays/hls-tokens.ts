import { maxTokenLife, mintToken, openToken, type TokenKeys, type TokenPurpose } from '@longwave/delivery-token';
import { idBytes, idFromBytes } from '@longwave/ids';
import { bindingMs } from '../plays/bound-plays.ts';
import type { HlsPlay } from '../plays/hls-play-table.ts';
import { shortIdOf } from '../presentations/presentation-table.ts';

/** What a token below a play names. */
interface NamedPlay {
  readonly playId: string;
}

/**
 * Makes and reads the tokens of plays by HLS. They begin and end with their play, whenever they are minted, so the same play has the same
 * addresses for ever. Those that open answer undefined for a token that is not ours, has another purpose, or has expired.
 */
export interface HlsTokens {
  /** Playlists and media of a play. */
  mintPresentation(play: HlsPlay): string;
  openPresentation(token: string, at: Date): NamedPlay | undefined;
  /** The asset list of a break. @param place of the break in the schedule */
  mintAssetList(play: HlsPlay, place: number): string;
  openAssetList(token: string, at: Date): (NamedPlay & { readonly place: number }) | undefined;
  /** One ad of a play. @param hasPictures whether it is played with pictures */
  mintAd(play: HlsPlay, servingId: string, hasPictures: boolean): string;
  openAd(
    token: string,
    at: Date,
  ): (NamedPlay & { readonly servingId: string; readonly hasPictures: boolean }) | undefined;
  /** One break of a play, to be filled by VAST; opens for 24 h after the play was opened. @param place of the break in the schedule */
  mintOpportunity(play: HlsPlay, place: number): string;
  openOpportunity(
    token: string,
    at: Date,
  ): (NamedPlay & { readonly place: number; readonly maxAds: number }) | undefined;
  /** The presentation binding of a play. */
  mintBinding(play: HlsPlay): string;
  openBinding(token: string, at: Date): NamedPlay | undefined;
  /** When the tokens of a play end, but for those of opportunities. */
  expiryOf(play: HlsPlay): Date;
}

/** The most ads that are answered for one opportunity; no break has more slots. */
const maxAds = 8;
/** Of the token of an opportunity, in seconds: as long as a listener keeps an arrangement. */
const opportunityLife = bindingMs / 1000;
/** In the place of a decision: the address of an opportunity must be the same before and after the decision. */
const noBinding = Buffer.alloc(16);

/** Bit 3 of the variant of an ad; the bits before it are for a step of loudness. */
const picturesBit = 1 << 3;

/** What a token names and for how long. */
interface Named {
  readonly subject: Buffer;
  readonly binding: Buffer;
  readonly slot?: number;
  readonly variant?: number;
  /** In seconds. */
  readonly life?: number;
}

/** @param host of the media URL */
export function createHlsTokens(keys: TokenKeys, host: string): HlsTokens {
  const startOf = ({ openedAt }: HlsPlay) => Math.floor(openedAt.getTime() / 1000);
  const mint = (purpose: TokenPurpose, play: HlsPlay, named: Named) => {
    const { subject, binding, slot = 0, variant = 0, life = maxTokenLife } = named;
    const startsAt = startOf(play);
    return mintToken(keys, {
      ...{ purpose, host, startsAt, expiresAt: startsAt + life },
      ...{ subject, binding, slot, variant },
      ...{ flags: 0, workspaceOrdinal: 0 },
    });
  };
  const open = (purpose: TokenPurpose, token: string, at: Date, playIn: 'subject' | 'binding' = 'binding') => {
    const opened = openToken(keys, purpose, host, token, Math.floor(at.getTime() / 1000));
    return opened.ok ? { playId: idFromBytes('ply', opened.claims[playIn]), claims: opened.claims } : undefined;
  };
  const below = ({ presentation, playId }: HlsPlay) => ({
    subject: Buffer.from(shortIdOf(presentation), 'hex'),
    binding: idBytes(playId),
  });
  const alone = ({ playId }: HlsPlay) => ({ subject: idBytes(playId), binding: noBinding });
  return {
    mintPresentation: (play) => mint('prs', play, below(play)),
    openPresentation: (token, at) => open('prs', token, at),
    mintAssetList: (play, place) => mint('asl', play, { ...below(play), slot: place }),
    openAssetList: (token, at) => {
      const opened = open('asl', token, at);
      return opened && { playId: opened.playId, place: opened.claims.slot };
    },
    mintAd: (play, servingId, hasPictures) =>
      mint('ada', play, { ...below(play), subject: idBytes(servingId), variant: hasPictures ? picturesBit : 0 }),
    openAd: (token, at) => {
      const opened = open('ada', token, at);
      if (!opened) return undefined;
      const { subject, variant } = opened.claims;
      const hasPictures = (variant & picturesBit) !== 0;
      return { playId: opened.playId, servingId: idFromBytes('srv', subject), hasPictures };
    },
    mintOpportunity: (play, place) =>
      mint('opp', play, { ...alone(play), slot: place, variant: maxAds, life: opportunityLife }),
    openOpportunity: (token, at) => {
      const opened = open('opp', token, at, 'subject');
      return opened && { playId: opened.playId, place: opened.claims.slot, maxAds: opened.claims.variant };
    },
    mintBinding: (play) => mint('bnd', play, alone(play)),
    openBinding: (token, at) => open('bnd', token, at, 'subject'),
    expiryOf: (play) => new Date((startOf(play) + maxTokenLife) * 1000),
  };
}
