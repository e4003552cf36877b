import { maxTokenLife, mintToken, openToken, type TokenKeys, type TokenPurpose } from '@longwave/delivery-token';
import { idBytes, idFromBytes } from '@longwave/ids';
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
  /** One ad of a play. */
  mintAd(play: HlsPlay, servingId: string): string;
  openAd(token: string, at: Date): (NamedPlay & { readonly servingId: string }) | undefined;
}

/** @param host of the media URL */
export function createHlsTokens(keys: TokenKeys, host: string): HlsTokens {
  const mint = (purpose: TokenPurpose, { playId, openedAt }: HlsPlay, subject: Buffer, slot = 0) => {
    const startsAt = Math.floor(openedAt.getTime() / 1000);
    return mintToken(keys, {
      ...{ purpose, host, startsAt, expiresAt: startsAt + maxTokenLife },
      ...{ subject, binding: idBytes(playId), slot },
      ...{ flags: 0, workspaceOrdinal: 0, variant: 0 },
    });
  };
  const open = (purpose: TokenPurpose, token: string, at: Date) => {
    const opened = openToken(keys, purpose, host, token, Math.floor(at.getTime() / 1000));
    return opened.ok ? { playId: idFromBytes('ply', opened.claims.binding), claims: opened.claims } : undefined;
  };
  const subjectOf = ({ presentation }: HlsPlay) => Buffer.from(shortIdOf(presentation), 'hex');
  return {
    mintPresentation: (play) => mint('prs', play, subjectOf(play)),
    openPresentation: (token, at) => open('prs', token, at),
    mintAssetList: (play, place) => mint('asl', play, subjectOf(play), place),
    openAssetList: (token, at) => {
      const opened = open('asl', token, at);
      return opened && { playId: opened.playId, place: opened.claims.slot };
    },
    mintAd: (play, servingId) => mint('ada', play, idBytes(servingId)),
    openAd: (token, at) => {
      const opened = open('ada', token, at);
      return opened && { playId: opened.playId, servingId: idFromBytes('srv', opened.claims.subject) };
    },
  };
}
