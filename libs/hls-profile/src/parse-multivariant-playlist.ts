import type { PlaylistLine, ProblemCollector } from './playlist-lines.ts';
import type { AttributeTag, MultivariantPlaylist, Variant } from './playlist.ts';

type Body = Pick<MultivariantPlaylist, 'kind' | 'variants' | 'renditions' | 'iframes' | 'sessionData'>;

/** The part of a multivariant playlist that a media playlist has not. */
export function parseMultivariantPlaylist(lines: readonly PlaylistLine[], problems: ProblemCollector): Body {
  const variants: Variant[] = [];
  const tags: Readonly<Record<string, AttributeTag[]>> = {
    'EXT-X-MEDIA': [],
    'EXT-X-I-FRAME-STREAM-INF': [],
    'EXT-X-SESSION-DATA': [],
  };
  const withoutUri = ({ line }: AttributeTag) =>
    problems.tell(line, 'The line after EXT-X-STREAM-INF must be the address of its playlist.');
  let pending: AttributeTag | undefined;
  for (const line of lines) {
    if (line.kind === 'uri') {
      if (pending) variants.push({ ...pending, uri: line.text });
      else problems.tell(line.number, 'This address belongs to no EXT-X-STREAM-INF. Write one before it.');
      pending = undefined;
      continue;
    }
    if (pending) withoutUri(pending);
    pending = undefined;
    if (line.tag === 'EXT-X-STREAM-INF') pending = { line: line.number, attributes: problems.attributesOf(line) };
    else if (Object.hasOwn(tags, line.tag))
      tags[line.tag]!.push({ line: line.number, attributes: problems.attributesOf(line) });
  }
  if (pending) withoutUri(pending);
  if (variants.length === 0) problems.tell(1, 'The playlist has no variant. Write EXT-X-STREAM-INF and an address.');
  return {
    kind: 'multivariant',
    variants,
    renditions: tags['EXT-X-MEDIA']!,
    iframes: tags['EXT-X-I-FRAME-STREAM-INF']!,
    sessionData: tags['EXT-X-SESSION-DATA']!,
  };
}
