import type { HlsFiles } from '@longwave/test-kit';
import { addBox, edit, editListBox, trakOf } from './_golden.ts';

const media = /^[^/]+\/media\.m3u8$/;
const everyPlaylist = /\.m3u8$/;
const main = /^main\.m3u8$/;
const lists = /^al\//;

/** Removes a variant with its address. */
const withoutVariant = (address: string) => (text: string) =>
  text.replace(new RegExp(`#EXT-X-STREAM-INF[^\n]*\n${address}/media.m3u8\n`), '');

const replace = (files: HlsFiles, names: RegExp, from: string | RegExp, to: string) =>
  edit(files, names, (text) => text.replaceAll(from instanceof RegExp ? new RegExp(from, 'g') : from, to));

interface Mutation {
  readonly name: string;
  readonly rules: readonly string[];
  readonly change: (files: HlsFiles) => void;
}

/** What people do wrong; the rules that find it, and no other. The first 20 are the usual mistakes. */
export const mutations: readonly Mutation[] = [
  { name: 'no resume offset', rules: ['A7'], change: (files) => replace(files, media, ',X-RESUME-OFFSET=0', '') },
  {
    name: 'a break with CUE="PRE"',
    rules: ['A7'],
    change: (files) => replace(files, media, /(ID="pre".*),X-SNAP="OUT,IN"/, '$1,CUE="PRE"'),
  },
  {
    name: 'a break that forbids skipping',
    rules: ['A7'],
    change: (files) => replace(files, media, 'X-SNAP', 'X-RESTRICT="SKIP,JUMP",X-SNAP'),
  },
  {
    name: 'a break that is a point of the timeline',
    rules: ['A7'],
    change: (files) => replace(files, media, '="RANGE"', '="POINT"'),
  },
  {
    name: 'the year 1970',
    rules: ['A6'],
    change: (files) => replace(files, everyPlaylist, '2020-01-01', '1970-01-01'),
  },
  {
    name: 'no date of the first segment',
    rules: ['A6'],
    change: (files) => replace(files, media, /#EXT-X-PROGRAM.*\n/, ''),
  },
  {
    name: 'a target duration of 12 s',
    rules: ['A5'],
    change: (files) => replace(files, everyPlaylist, 'TARGETDURATION:6', 'TARGETDURATION:12'),
  },
  { name: 'version 6', rules: ['A1'], change: (files) => replace(files, media, 'VERSION:7', 'VERSION:6') },
  { name: 'no end', rules: ['A1'], change: (files) => replace(files, media, '#EXT-X-ENDLIST\n', '') },
  {
    name: 'nothing about closed captions',
    rules: ['A11'],
    change: (files) => replace(files, main, ',CLOSED-CAPTIONS=NONE', ''),
  },
  {
    name: 'no average rate',
    rules: ['A2'],
    change: (files) => replace(files, main, /(STREAM-INF.*),AVERAGE-BANDWIDTH=\d+/, '$1'),
  },
  { name: 'no 720p', rules: ['A2'], change: (files) => edit(files, main, withoutVariant('720p')) },
  { name: 'no language', rules: ['A3'], change: (files) => replace(files, main, ',LANGUAGE="en"', '') },
  { name: 'no I-frames', rules: ['A4'], change: (files) => replace(files, main, /#EXT-X-I-FRAME-STREAM-INF.*\n/, '') },
  {
    name: 'the duration of an ad 21 % too long',
    rules: ['A8'],
    change: (files) => replace(files, lists, '"DURATION":6.016', '"DURATION":7.279'),
  },
  {
    name: 'the duration of an ad as text',
    rules: ['A8'],
    change: (files) => replace(files, lists, /"DURATION":([\d.]+)/, '"DURATION":"$1"'),
  },
  {
    name: 'a break after the content at its very end',
    rules: ['A9'],
    change: (files) => replace(files, media, '00:00:21.500Z', '00:00:24.000Z'),
  },
  {
    name: 'a break that ends after the content',
    rules: ['A9'],
    change: (files) => replace(files, media, /(ID="mid-1")/, '$1,DURATION=30'),
  },
  { name: 'no variant of audio only', rules: ['A2'], change: (files) => edit(files, main, withoutVariant('audio')) },
  {
    name: 'a wrong average rate',
    rules: ['average-rate'],
    change: (files) => replace(files, main, /(,AVERAGE-BANDWIDTH)=(\d+)/, '$1=9$2'),
  },

  {
    name: 'the same in an ad: nothing about closed captions',
    rules: ['A11'],
    change: (files) => replace(files, /^ad\/main/, ',CLOSED-CAPTIONS=NONE', ''),
  },
  {
    name: 'the same in an ad: no end',
    rules: ['A1'],
    change: (files) => replace(files, /^ad\/.*media/, '#EXT-X-ENDLIST\n', ''),
  },
  {
    name: 'a format that is not declared',
    rules: ['A2'],
    change: (files) => replace(files, main, /avc1\.[^",]+(?=.*1920)/, 'avc1.640099'),
  },
  {
    name: 'a group of audio that is not there',
    rules: ['A2', 'A3'],
    change: (files) => replace(files, main, ',AUDIO="aud"', ',AUDIO="other"'),
  },
  {
    name: 'a break without class',
    rules: ['A7'],
    change: (files) => replace(files, media, ',CLASS="com.apple.hls.interstitial"', ''),
  },
  {
    name: 'a break with two kinds of address',
    rules: ['A7'],
    change: (files) =>
      replace(files, media, /(ID="mid-1")/, '$1,X-ASSET-URI="https://media.example.com/show/ad/main.m3u8"'),
  },
  {
    name: 'an ad by its address, without a duration',
    rules: ['A8'],
    change: (files) => replace(files, media, /X-ASSET-LIST="[^"]*mid-1"/, 'X-ASSET-URI="../ad/main.m3u8"'),
  },
  { name: 'an ad without video', rules: ['A10'], change: (files) => edit(files, /^ad\/main/, withoutVariant('720p')) },
  {
    name: 'an ad without audio only',
    rules: ['A10'],
    change: (files) => edit(files, /^ad\/main/, withoutVariant('audio')),
  },
  {
    name: 'a break of one playlist alone',
    rules: ['equal-date-ranges'],
    change: (files) => replace(files, /^subs-en\/media/, /#EXT-X-DATERANGE:ID="mid.*\n/, ''),
  },
  {
    name: 'breaks in another order',
    rules: ['equal-date-ranges'],
    change: (files) => replace(files, /^720p/, /(#EXT-X-DATERANGE:ID="pre.*\n)(#EXT.*\n)/, '$2$1'),
  },
  {
    name: 'two breaks of one ID',
    rules: ['equal-date-ranges'],
    change: (files) => replace(files, media, 'ID="post"', 'ID="pre"'),
  },
  {
    name: 'a break in the middle of a segment',
    rules: ['break-at-segment'],
    change: (files) => replace(files, media, '00:00:12.032Z', '00:00:13.032Z'),
  },
  {
    name: 'a rendition that is shorter',
    rules: ['equal-lengths'],
    change: (files) => replace(files, /^720p/, /#EXTINF.*\n.*\n.*\n#EXT-X-ENDLIST/, '#EXT-X-ENDLIST'),
  },
  {
    name: 'a rendition of another target duration',
    rules: ['A5', 'equal-targets'],
    change: (files) => replace(files, /^720p/, 'TARGETDURATION:6', 'TARGETDURATION:7'),
  },
  {
    name: 'segments longer than the target duration',
    rules: ['A5', 'segment-lengths'],
    change: (files) => replace(files, everyPlaylist, 'TARGETDURATION:6', 'TARGETDURATION:5'),
  },
  {
    name: 'a segment without its last byte',
    rules: ['whole-fragments'],
    change: (files) => replace(files, /^360p/, /(RANGE:)(\d+)(?=@774\n)/, '$18'),
  },
  {
    name: 'an I-frame without its last bytes',
    rules: ['whole-fragments'],
    change: (files) => replace(files, /^iframes/, /(RANGE:\d)\d+(?=@773\n)/, '$1000'),
  },
  {
    name: 'segments whose durations are not those of the media',
    rules: ['segment-times'],
    change: (files) =>
      edit(files, /^360p/, (text) =>
        text.replace(/6\.00000(,\n.*\n.*\n#EXTINF:)6\.00000(?=,\n.*\n.*\n#EXT-X-END)/, '5.51000$16.49000'),
      ),
  },
  { name: 'two tracks in one file', rules: ['one-track'], change: (files) => addBox(files, '1080p', 'moov', trakOf) },
  {
    name: 'an edit list',
    rules: ['no-edit-list'],
    change: (files) => addBox(files, '1080p', 'trak', () => editListBox(1024)),
  },
  {
    name: 'a peak rate below the real one',
    rules: ['peak-rate'],
    change: (files) => replace(files, main, /(STREAM-INF:BANDWIDTH)=\d+/, '$1=90'),
  },
  { name: 'a list that is no JSON', rules: ['asset-list'], change: (files) => replace(files, /^al\/post/, '{', '') },
  {
    name: 'a list without ads',
    rules: ['asset-list'],
    change: (files) => replace(files, /^al\/post/, 'ASSETS', 'Assets'),
  },
  {
    name: 'a relative address in a list',
    rules: ['asset-list'],
    change: (files) => replace(files, lists, 'https://media.example.com/show/', '../'),
  },
  {
    name: 'captions that are no WebVTT',
    rules: ['captions'],
    change: (files) => replace(files, /\.vtt$/, 'WEBVTT', '1'),
  },
  {
    name: 'captions after the end',
    rules: ['captions'],
    change: (files) => replace(files, /\.vtt$/, '00:01.000', '00:31.000'),
  },
  {
    name: 'chapters with times as text',
    rules: ['chapters'],
    change: (files) => replace(files, /^chapters/, '"start-time":0', '"start-time":"0:00"'),
  },
  { name: 'a segment that is not there', rules: ['reachable'], change: (files) => void files.delete('subs-en/1.vtt') },
  { name: 'an ad that is not there', rules: ['reachable'], change: (files) => void files.delete('ad/main.m3u8') },
  {
    name: 'typographic quotation marks',
    rules: ['syntax'],
    change: (files) => replace(files, main, 'NAME="English"', 'NAME=“English”'),
  },
  {
    name: 'the time of the check as the date',
    rules: ['A6'],
    change: (files) => replace(files, everyPlaylist, '2020-01-01', '2026-11-01'),
  },
  {
    name: 'another date in one playlist',
    rules: ['A6', 'break-at-segment'],
    change: (files) => replace(files, /^720p/, 'TIME:2020-01-01T00:00:00', 'TIME:2020-01-01T00:00:01'),
  },
  {
    name: 'a break that snaps to no segment',
    rules: ['A7'],
    change: (files) => replace(files, media, ',X-SNAP="OUT,IN"', ''),
  },
  {
    name: 'a break whose end is after the content',
    rules: ['A9'],
    change: (files) => replace(files, media, /(ID="mid-1")/, '$1,END-DATE="2020-01-01T00:01:00Z"'),
  },
  {
    name: 'video without sound',
    rules: ['A2', 'average-rate'],
    change: (files) => replace(files, main, /,mp4a.40.2(".*),AUDIO="aud"/, '$1'),
  },
  {
    name: 'audio and video in one file',
    rules: ['A2', 'average-rate'],
    change: (files) => replace(files, main, /(RESOLUTION.*),AUDIO="aud"/, '$1'),
  },
  { name: 'no frame rate', rules: ['A2'], change: (files) => replace(files, main, ',FRAME-RATE=2.000', '') },
  {
    name: 'groups of different languages',
    rules: ['A3'],
    change: (files) =>
      replace(
        files,
        main,
        /(#EXT-X-MEDIA:TYPE=AUDIO.*\n)/,
        '$1#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="low",NAME="Deutsch",LANGUAGE="de",URI="audio/media.m3u8"\n',
      ),
  },
  {
    name: 'I-frames that are not declared as such',
    rules: ['A4'],
    change: (files) => replace(files, /^iframes/, '#EXT-X-I-FRAMES-ONLY\n', ''),
  },
  {
    name: 'one I-frame in 2 s',
    rules: ['A4'],
    change: (files) =>
      replace(files, /^iframes/, /#EXTINF:0\.5(0000,\n.*\n.*\n)(?:#EXTINF:0\.5.*\n.*\n.*\n){3}/, '#EXTINF:2.0$1'),
  },
  {
    name: 'a variant without address',
    rules: ['A2', 'syntax'],
    change: (files) => replace(files, main, '360p/media.m3u8\n', ''),
  },
];
