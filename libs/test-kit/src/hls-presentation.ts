import type { HlsRung, HlsTrack, HlsTracks } from './hls-tracks.ts';

/** Files of a presentation by path. */
export type HlsFiles = Map<string, Buffer>;

interface Segment {
  readonly offset: number;
  readonly length: number;
  readonly seconds: number;
}

const cellsPerSegment = 3;

/** Runs of cells, each a segment; of an ad only the first ones. */
function segmentsOf({ cells }: HlsTrack, most = Infinity): readonly Segment[] {
  const starts = [...cells.keys()].filter((index) => index % cellsPerSegment === 0).slice(0, most);
  return starts.map((start) => {
    const run = cells.slice(start, start + cellsPerSegment);
    const sum = (of: 'length' | 'seconds') => run.reduce((total, cell) => total + cell[of], 0);
    return { offset: run[0]!.offset, length: sum('length'), seconds: sum('seconds') };
  });
}

const total = (segments: readonly Segment[]) => segments.reduce((sum, { seconds }) => sum + seconds, 0);
const rate = (segments: readonly Segment[]) =>
  Math.round((segments.reduce((sum, { length }) => sum + length, 0) * 8) / total(segments));
const peak = (segments: readonly Segment[]) =>
  Math.max(...segments.map(({ length, seconds }) => Math.ceil((length * 8) / seconds)));

const versionLines = ['#EXTM3U', '#EXT-X-VERSION:7'];
const text = (...lines: readonly (string | readonly string[])[]) => Buffer.from(`${lines.flat().join('\n')}\n`);

/** A media playlist over one file. */
function mediaPlaylist(
  { initLength }: HlsTrack,
  {
    segments,
    file,
    dateRanges,
    isIFrames,
  }: { segments: readonly Segment[]; file: string; dateRanges: readonly string[]; isIFrames?: boolean },
) {
  return text(
    versionLines,
    ['#EXT-X-TARGETDURATION:6', '#EXT-X-MEDIA-SEQUENCE:0', '#EXT-X-PLAYLIST-TYPE:VOD'],
    isIFrames ? '#EXT-X-I-FRAMES-ONLY' : '#EXT-X-INDEPENDENT-SEGMENTS',
    dateRanges,
    `#EXT-X-MAP:URI="${file}",BYTERANGE="${initLength}@0"`,
    '#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00.000Z',
    segments.flatMap(({ offset, length, seconds }) => [
      `#EXTINF:${seconds.toFixed(5)},`,
      `#EXT-X-BYTERANGE:${length}@${offset}`,
      file,
    ]),
    '#EXT-X-ENDLIST',
  );
}

function subtitles(files: HlsFiles, segments: readonly Segment[], dateRanges: readonly string[]): void {
  for (const index of segments.keys())
    files.set(
      `subs-en/${index}.vtt`,
      text(
        'WEBVTT',
        'X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0',
        '',
        index === 0 ? ['00:01.000 --> 00:03.000', 'Good evening.', ''] : [],
      ),
    );
  files.set(
    'subs-en/media.m3u8',
    text(
      versionLines,
      ['#EXT-X-TARGETDURATION:6', '#EXT-X-MEDIA-SEQUENCE:0', '#EXT-X-PLAYLIST-TYPE:VOD', '#EXT-X-INDEPENDENT-SEGMENTS'],
      dateRanges,
      '#EXT-X-PROGRAM-DATE-TIME:2020-01-01T00:00:00.000Z',
      segments.flatMap(({ seconds }, index) => [`#EXTINF:${seconds.toFixed(5)},`, `${index}.vtt`]),
      '#EXT-X-ENDLIST',
    ),
  );
}

const audioGroup =
  '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="aud",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio/media.m3u8"';
const sizes: Readonly<Record<HlsRung, string>> = { '360p': '640x360', '720p': '1280x720', '1080p': '1920x1080' };
const codecOf = ({ bytes }: HlsTrack) =>
  `avc1.${bytes.toString('hex', bytes.indexOf('avcC') + 5, bytes.indexOf('avcC') + 8)}`;

type Rung = readonly [HlsRung, HlsTrack];

const rungsOf = ({ video }: HlsTracks, names: readonly HlsRung[]): readonly Rung[] =>
  video ? names.map((name) => [name, video[name]] as const) : [];

/** The lines of the variants, the audio-only one last. */
function variantLines(audioTrack: HlsTrack, rungs: readonly Rung[], groups: string, most?: number): readonly string[] {
  const audio = segmentsOf(audioTrack, most);
  const line = (own: readonly Segment[], withAudio: boolean, codecs: string, more: string) =>
    `#EXT-X-STREAM-INF:BANDWIDTH=${peak(own) + (withAudio ? peak(audio) : 0)},AVERAGE-BANDWIDTH=${rate(own) + (withAudio ? rate(audio) : 0)},CODECS="${codecs}",${more}${groups},CLOSED-CAPTIONS=NONE`;
  return [
    ...rungs.flatMap(([name, track]) => [
      line(segmentsOf(track, most), true, `${codecOf(track)},mp4a.40.2`, `RESOLUTION=${sizes[name]},FRAME-RATE=2.000,`),
      `${name}/media.m3u8`,
    ]),
    line(audio, false, 'mp4a.40.2', ''),
    'audio/media.m3u8',
  ];
}

/** An ad of one segment. Answers its seconds. */
function addAd(files: HlsFiles, audio: HlsTrack, rungs: readonly Rung[]): number {
  for (const [name, track] of [['audio', audio] as const, ...rungs]) {
    const [segments, file] = [segmentsOf(track, 1), `../../s/${name}.mp4`];
    files.set(`ad/${name}/media.m3u8`, mediaPlaylist(track, { segments, file, dateRanges: [] }));
  }
  const variants = variantLines(audio, rungs, 'AUDIO="aud"', 1);
  files.set('ad/main.m3u8', text(versionLines, '#EXT-X-INDEPENDENT-SEGMENTS', audioGroup, variants));
  return total(segmentsOf(audio, 1));
}

const dateAfter = (seconds: number) => new Date(Date.UTC(2020, 0, 1) + Math.round(seconds * 1000)).toISOString();

/** Breaks before the content, in its middle and after it, and their asset lists: one ad, two, none. Answers the tags. */
function addBreaks(files: HlsFiles, audio: HlsTrack, adSeconds: number, base: string): readonly string[] {
  const segments = segmentsOf(audio);
  const ad = { URI: `${base}ad/main.m3u8`, DURATION: Number(adSeconds.toFixed(5)) };
  const breaks = [
    { id: 'pre', at: 0, more: 'X-SNAP="OUT,IN"', ads: [ad] },
    { id: 'mid-1', at: total(segments.slice(0, 2)), more: 'X-SNAP="OUT,IN"', ads: [ad, ad] },
    { id: 'post', at: total(segments) - 2.5, more: 'CUE="POST"', ads: [] },
  ];
  return breaks.map(({ id, at, more, ads }) => {
    files.set(`al/${id}.json`, Buffer.from(JSON.stringify({ ASSETS: ads })));
    return `#EXT-X-DATERANGE:ID="${id}",CLASS="com.apple.hls.interstitial",START-DATE="${dateAfter(at)}",X-ASSET-LIST="${base}al/${id}.json?_HLS_interstitial_id=${id}",X-RESUME-OFFSET=0,${more},X-TIMELINE-OCCUPIES="RANGE",X-TIMELINE-STYLE="PRIMARY",X-CONTENT-MAY-VARY="YES"`;
  });
}

/** Captions and I-frames. Answers their lines of the multivariant playlist. */
function addVideo(files: HlsFiles, { audio, video }: Required<HlsTracks>, dateRanges: readonly string[]) {
  const { cells } = video.iframes;
  subtitles(files, segmentsOf(audio), dateRanges);
  files.set('s/iframes.mp4', video.iframes.bytes);
  files.set(
    'iframes/media.m3u8',
    mediaPlaylist(video.iframes, { segments: cells, file: '../s/iframes.mp4', dateRanges, isIFrames: true }),
  );
  return {
    group:
      '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="sub",NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,FORCED=NO,URI="subs-en/media.m3u8"',
    iframes: `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=${peak(cells)},AVERAGE-BANDWIDTH=${rate(cells)},CODECS="${codecOf(video.iframes)}",RESOLUTION=640x360,URI="iframes/media.m3u8"`,
  };
}

/**
 * A presentation with three breaks and chapters: of tracks with video one that Apple Podcasts takes, with captions, else one of audio alone.
 * @param base address of the folder, with a slash at the end
 */
export function renderHlsPresentation(tracks: HlsTracks, base: string): HlsFiles {
  const files: HlsFiles = new Map();
  const { audio, video } = tracks;
  const rungs = rungsOf(tracks, ['360p', '720p', '1080p']);
  const adSeconds = addAd(files, audio, rungsOf(tracks, ['720p']));
  const dateRanges = addBreaks(files, audio, adSeconds, base);
  for (const [name, track] of [['audio', audio] as const, ...rungs]) {
    files.set(`s/${name}.mp4`, track.bytes);
    const [segments, file] = [segmentsOf(track), `../s/${name}.mp4`];
    files.set(`${name}/media.m3u8`, mediaPlaylist(track, { segments, file, dateRanges }));
  }
  const chapters = [{ 'start-time': 0, titles: [{ language: 'en', title: 'Evening' }] }];
  files.set('chapters.json', Buffer.from(JSON.stringify(chapters)));
  const more = video && addVideo(files, { audio, video }, dateRanges);
  files.set(
    'main.m3u8',
    text(
      versionLines,
      '#EXT-X-INDEPENDENT-SEGMENTS',
      '#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="chapters.json"',
      audioGroup,
      more?.group ?? [],
      variantLines(audio, rungs, more ? 'AUDIO="aud",SUBTITLES="sub"' : 'AUDIO="aud"'),
      more?.iframes ?? [],
    ),
  );
  return files;
}

const mediaTypes: Readonly<Record<string, string>> = {
  m3u8: 'application/vnd.apple.mpegurl',
  json: 'application/json',
  vtt: 'text/vtt',
  mp4: 'video/mp4',
};

/** What a good server answers to a request of a file, of some bytes where `range` ("bytes=0-9") asks for them. */
export function answerHlsFile(files: HlsFiles, path: string, range?: string) {
  const file = files.get(path);
  const headers: Record<string, string> = {
    'access-control-allow-origin': '*',
    'access-control-expose-headers': 'Content-Range, Content-Length',
    'content-type': mediaTypes[path.split('.').at(-1)!] ?? 'application/octet-stream',
  };
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (!file) return { status: 404, headers, body: Buffer.alloc(0) };
  if (first === undefined) return { status: 200, headers, body: file };
  const body = file.subarray(Number(first), Number(last) + 1);
  headers['content-range'] = `bytes ${first}-${Number(first) + body.length - 1}/${file.length}`;
  return { status: 206, headers, body };
}
