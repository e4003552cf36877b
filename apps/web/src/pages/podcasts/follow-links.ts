/** Addresses by which apps open a podcast, as its page has them: each app by its name, and the feed for every other one. */
export function followLinks({
  feed_url: feedUrl,
  title,
}: {
  readonly feed_url: string;
  readonly title: string;
}): readonly (readonly [app: string, address: string])[] {
  const [feed, bare] = [encodeURIComponent(feedUrl), feedUrl.replace(/^https?:\/\//, '')];
  return [
    ['Apple Podcasts', `podcast://${bare}`],
    ['Overcast', `overcast://x-callback-url/add?url=${feed}`],
    ['Pocket Casts', `pktc://subscribe/${bare}`],
    ['AntennaPod', `https://antennapod.org/deeplink/subscribe?url=${feed}&title=${encodeURIComponent(title)}`],
    ['RSS', feedUrl],
  ];
}
