/** The namespaces that feeds use, by this code's prefix, with their addresses. */
const vocabularies: Readonly<Record<string, readonly string[]>> = {
  '': [
    'purl.org/rss/1.0',
    'backend.userland.com/rss2',
    'backend.userland.com/rss',
    'blogs.law.harvard.edu/tech/rss',
    'cyber.law.harvard.edu/rss',
    'my.netscape.com/rdf/simple/0.9',
    'channel.netscape.com/rdf/simple/0.9',
  ],
  rdf: ['w3.org/1999/02/22-rdf-syntax-ns#'],
  itunes: ['itunes.com/dtds/podcast-1.0.dtd', 'itunes.apple.com/dtds/podcast-1.0.dtd'],
  podcast: ['podcastindex.org/namespace/1.0', 'github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md'],
  content: ['purl.org/rss/1.0/modules/content'],
  dc: ['purl.org/dc/elements/1.1'],
  atom: ['w3.org/2005/atom'],
  media: ['search.yahoo.com/mrss'],
  googleplay: ['google.com/schemas/play-podcasts/1.0', 'google.com/schemas/play-podcasts/1.0/play-podcasts.xsd'],
};

/** A namespace address without scheme, "www.", case and trailing slash, which feeds write in many ways. */
const comparable = (uri: string): string =>
  uri
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/+$/, '');

const prefixes = new Map(Object.entries(vocabularies).flatMap(([prefix, uris]) => uris.map((uri) => [uri, prefix])));

/** Namespace of a well-known prefix that a feed uses without declaring it. */
export const undeclaredNamespace = (prefix: string): string | undefined => {
  const found = Object.hasOwn(vocabularies, prefix) ? vocabularies[prefix]![0] : undefined;
  return found && `http://${found}`;
};

/** This code's name of an element, whatever prefix the feed uses: "itunes:image", "title"; undefined in an unknown namespace. */
export function elementName(uri: string, local: string): string | undefined {
  const prefix = uri === '' ? '' : prefixes.get(comparable(uri));
  if (prefix === undefined) return undefined;
  return prefix === '' ? local : `${prefix}:${local}`;
}
