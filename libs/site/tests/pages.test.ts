import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { renderEpisodePage, renderShowPage, renderSitemap } from '../src/index.ts';
import { details, episodeOf, faultsOf, showOf } from './_site.ts';

const listOf = (...episodes: ReturnType<typeof episodeOf>[]) => ({ episodes, page: 1, pages: 1 });

/** The data of the page for search engines. */
const dataOf = (html: string) =>
  JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/s.exec(html)![1]!) as Record<string, unknown>;
const contentOf = (html: string, name: string) =>
  new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)">`).exec(html)?.[1];

test('the validator of these tests finds what is not HTML', async () => {
  const html = renderShowPage(showOf(), listOf());
  expect(await faultsOf(html.replace('<main>', '<main><p><div></div></p>'))).not.toEqual([]);
});

test.each(['en', 'de-AT', 'fr', 'ja'])('pages are valid HTML in the language of the podcast: %s', async (language) => {
  const show = showOf({
    language,
    funding: [{ url: 'https://give.example/', text: 'Give' }],
    link: 'https://tides.example/',
  });
  for (const html of [
    renderShowPage(show, { episodes: [episodeOf(), episodeOf({ type: 'trailer' })], page: 2, pages: 3 }),
    renderShowPage(show, listOf()),
    renderEpisodePage(show, episodeOf({ explicit: true }), details),
    renderEpisodePage(show, episodeOf({ description: 'One\n\nTwo https://b.example/x.', isHere: false }), {
      chapters: [],
      mayHaveAds: false,
    }),
  ]) {
    expect(await faultsOf(html)).toEqual([]);
    expect(html).toContain(`<html lang="${language}">`);
    expect(html.match(/<h1/g)).toHaveLength(1);
  }
});

test('our words are German for a German podcast and English for every other, where they say that they are', () => {
  const htmlOf = (language: string) => renderEpisodePage(showOf({ language }), episodeOf(), details);
  expect(htmlOf('de-CH')).toContain('<h2 id="chapters">Kapitel</h2>');
  expect(htmlOf('de-CH')).toContain('20. November 2026</time> · Staffel 2, Folge 4');
  expect(htmlOf('en-US')).toContain('<h2 id="chapters">Chapters</h2>');
  expect(htmlOf('fr')).toContain('<h2 id="chapters" lang="en">Chapters</h2>');
});

test('an episode plays at its enclosure without a script, and its chapters, people and transcript are there', () => {
  const html = renderEpisodePage(showOf(), episodeOf(), details);
  expect(html).toContain(
    '<audio controls preload="none" aria-label="Player: The fog of 1911" src="https://media.test/delivery/v1/e/t1.x/fog.mp3">',
  );
  expect(html).toContain('<time datetime="PT1H2M3S">1:02:03</time>');
  expect(html).toContain('<a href="https://ana.example/" rel="nofollow noopener">Ana Ruiz</a> <span>host</span>');
  expect(html).toContain(
    '<p><strong>Ana:</strong> Good morning. This is Tides.</p>\n<p><strong>Ben:</strong> a &lt; b</p>',
  );
  expect(html.match(/<script(?! type="application\/ld\+json">)/g)).toBeNull();
});

test('previews and search engines learn what the page is about', () => {
  const show = showOf();
  const [home, page] = [renderShowPage(show, listOf(episodeOf())), renderEpisodePage(show, episodeOf(), details)];
  expect([contentOf(page, 'og:title'), contentOf(page, 'og:url'), contentOf(page, 'og:image')]).toEqual([
    'The fog of 1911',
    'https://media.test/site/tides/ep_1',
    'https://media.test/delivery/v1/i/600.jpg',
  ]);
  expect([contentOf(page, 'twitter:title'), contentOf(page, 'description')]).toEqual([
    'The fog of 1911',
    'Boats &amp; lights. One Two',
  ]);
  expect(page).toContain('<link rel="canonical" href="https://media.test/site/tides/ep_1">');
  expect(page).toContain(
    '<link rel="alternate" type="application/rss+xml" title="Tides" href="https://media.test/feeds/tides.xml">',
  );
  expect(dataOf(page)).toMatchObject({
    '@type': 'PodcastEpisode',
    timeRequired: 'PT31M7S',
    episodeNumber: 4,
    associatedMedia: { contentUrl: 'https://media.test/delivery/v1/e/t1.x/fog.mp3' },
    partOfSeries: { '@type': 'PodcastSeries', name: 'Tides' },
  });
  expect(dataOf(home)).toMatchObject({ '@type': 'PodcastSeries', webFeed: 'https://media.test/feeds/tides.xml' });
  expect(contentOf(page, 'robots')).toBeUndefined();
  expect(contentOf(renderEpisodePage(show, episodeOf({ blocked: true }), details), 'robots')).toBe('noindex');
  expect(renderSitemap(['https://media.test/site/tides?a&b'])).toContain(
    '<loc>https://media.test/site/tides?a&amp;b</loc>',
  );
});

const attacks = [
  '</script><script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '</title></head></style><body onload=alert(1)>',
  '<!--<script>',
  '\u2028</ScRiPt\n>',
  '<a href="javascript:alert(1)">x</a><a href=" java\tscript:alert(1)">y</a>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe><style>*{}</style><form action=//e.example><input></form>',
  '<p style="background:url(//e.example)" onclick="alert(1)">x</p><base href="//e.example">',
  '<math><mtext></p><style><img src onerror=alert(1)></style>',
];

test.each(attacks)('no word of strangers becomes an element that runs or loads: %j', async (attack) => {
  const show = showOf({
    ...{
      title: attack,
      author: attack,
      description: attack,
      copyright: attack,
      link: attack,
      artworkUrl: 'https://e.example/x.jpg',
    },
    ...{
      images: [],
      funding: [
        { url: attack, text: attack },
        { url: 'javascript:alert(1)', text: 'x' },
      ],
    },
  });
  const episode = episodeOf({
    ...{ title: attack, description: attack, summary: attack, artworkUrl: undefined },
    persons: [{ name: attack, role: attack, link: 'javascript:alert(1)', imageUrl: 'https://e.example/p.jpg' }],
  });
  const html = [
    renderShowPage(show, listOf(episode)),
    renderEpisodePage(show, episode, {
      mayHaveAds: false,
      chapters: [{ startMs: 0, title: attack, url: 'javascript:alert(1)' }],
      transcript: { language: 'en', cues: [{ start_ms: 0, end_ms: 1, speaker: attack, text: attack }] },
    }),
  ];
  for (const page of html) {
    expect(await faultsOf(page)).toEqual([]);
    // Elements alone: what is escaped has no "<".
    const tags = page.match(/<[a-z!/][^<>]*>/gi)!;
    const names = new Set(tags.map((tag) => /^<\/?([a-z0-9!]+)/i.exec(tag)![1]!.toLowerCase()));
    expect(
      [...names].filter((name) => ['img', 'svg', 'iframe', 'form', 'base', 'math', 'input', 'object'].includes(name)),
    ).toEqual([]);
    expect(page.match(/<script/gi)).toHaveLength(1);
    expect(page.match(/<style/gi)).toHaveLength(1);
    expect(tags.filter((tag) => /\son\w+\s*=(?=[^"]*(?:"[^"]*"[^"]*)*>$)/i.test(tag))).toEqual([]);
    expect(page).not.toMatch(/href="\s*java/i);
    dataOf(page);
  }
});

test('notes of text get paragraphs and links, and longer ones than a page holds end whole', async () => {
  const html = renderEpisodePage(
    showOf(),
    episodeOf({ description: 'AT&amp;T & you\nhttps://a.example/?a=1&b=2.\n\n1 < 2' }),
    details,
  );
  expect(html).toContain(
    '<p>AT&amp;T &amp; you<br><a href="https://a.example/?a=1&amp;b=2" rel="nofollow noopener">https://a.example/?a=1&amp;b=2</a>.</p>\n<p>1 &lt; 2</p>',
  );
  const long = renderEpisodePage(
    showOf(),
    episodeOf({ description: `<ul>${'<li><b>Größe</b></li>'.repeat(5_000)}</ul>` }),
    details,
  );
  expect(await faultsOf(long)).toEqual([]);
  expect(long).toContain('…');
});

test('paragraphs of notes are divided by empty lines, which may have spaces, and lines end where they end', () => {
  const html = renderEpisodePage(
    showOf(),
    episodeOf({ description: '\n \t\nOne  \r\ntwo\r\n \t \r\n\r\n Three\n' }),
    details,
  );
  expect(html).toContain('<section class="notes"><p>One<br>two</p>\n<p>Three</p></section>');
});

test('notes of nothing but spaces take no time', () => {
  const description = `a${' '.repeat(19_000)}b`;
  const startedMs = performance.now();
  for (let at = 0; at < 20; at++) renderEpisodePage(showOf(), episodeOf({ description }), details);
  // Each of them took 0.9 s once.
  expect(performance.now() - startedMs).toBeLessThan(9_000);
});

test('of a transcript no more is read than a page shows, although no sentence ends and nobody pauses', () => {
  let reads = 0;
  const cues = Array.from({ length: 50_000 }, (_, at) => ({
    ...{ start_ms: at * 1_000, end_ms: at * 1_000 + 1_000 },
    get text() {
      reads++;
      return 'and then';
    },
  }));
  const html = renderEpisodePage(showOf(), episodeOf(), { ...details, transcript: { language: 'en', cues } });
  expect(html).toContain('<div class="transcript" lang="en">\n<p>and then and then');
  expect(html).toContain('The whole transcript as a file');
  expect(reads).toBeLessThan(9_000);
});

/** Words in the frequencies of a language, the same ones each time. */
function prose(bytes: number): string {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const words = Array.from({ length: 3_000 }, () =>
    Array.from({ length: 2 + random(9) }, () => 'etaoinshrdlucmfwypvbgkjqxz'[Math.min(random(26), random(26))]).join(
      '',
    ),
  );
  let text = '';
  while (text.length < bytes) text += `${words[Math.min(random(3_000), random(3_000), random(3_000))]!} `;
  return text;
}

test('a page has at most 30 kB as gzip, however long notes and transcript are', () => {
  const [notes, spoken] = [prose(100_000), prose(200_000)];
  const cues = Array.from({ length: 2_000 }, (_, at) => ({
    ...{ start_ms: at * 3_000, end_ms: at * 3_000 + 2_900 },
    ...{ speaker: at % 3 ? 'Ana' : 'Ben', text: spoken.slice(at * 100, at * 100 + 99) },
  }));
  const episode = episodeOf({ description: `<p>${notes}</p>` });
  const html = renderEpisodePage(showOf(), episode, { ...details, transcript: { language: 'en', cues } });
  expect(gzipSync(html).length).toBeLessThan(30_000);
  expect(html).toContain('The whole transcript as a file');
  const many = Array.from({ length: 30 }, (_, at) =>
    episodeOf({ description: notes.slice(at * 1_000), title: notes.slice(at * 300, at * 300 + 255) }),
  );
  expect(gzipSync(renderShowPage(showOf({ description: `<p>${notes}</p>` }), listOf(...many))).length).toBeLessThan(
    30_000,
  );
});
