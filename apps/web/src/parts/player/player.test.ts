import { expect, jest, test } from '@jest/globals';
import { createPlayer, type AudioElement, type Sound } from './player.ts';

/** A browser's element, which plays as far as it is told. */
function createElement() {
  const target = new EventTarget();
  const element = Object.assign(target, {
    src: '',
    currentTime: 0,
    playbackRate: 1,
    paused: true,
    play: async () => void (element.paused = false),
    pause: () => void (element.paused = true),
  });
  return {
    element: element as unknown as AudioElement,
    playTo: (ms: number) => {
      element.currentTime = ms / 1000;
      target.dispatchEvent(new Event('timeupdate'));
    },
    end: () => target.dispatchEvent(new Event('ended')),
    fail: () => target.dispatchEvent(new Event('error')),
  };
}

const soundOf = (key: string): Sound & { readonly asked: boolean[] } => {
  const asked: boolean[] = [];
  return {
    ...{ key, title: 'The lamp', artist: undefined, artworkUrl: undefined, durationMs: 60_000, asked },
    findUrl: async (isNew) => {
      asked.push(isNew);
      return `${key}-${asked.length}`;
    },
  };
};

function openPlayer() {
  const browser = createElement();
  const createAudio = jest.fn(() => browser.element);
  const player = createPlayer(createAudio, () => () => undefined);
  return { ...browser, player, createAudio };
}

/** Until what was begun without waiting is done. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test('nothing is loaded before somebody listens, and it plays from where it was put', async () => {
  const { player, element, createAudio } = openPlayer();
  const sound = soundOf('one');
  player.take(sound);
  player.seek(12_345);
  expect([createAudio.mock.calls.length, sound.asked]).toEqual([0, []]);
  player.play();
  await settle();
  expect([element.src, element.currentTime, element.paused]).toEqual(['one-1', 12.345, false]);
});

test('a span ends where it ends, and playing on afterwards does not', async () => {
  const { player, playTo, element } = openPlayer();
  player.take(soundOf('one'));
  player.playSpan(7000, 13_000);
  await settle();
  expect(element.currentTime).toBe(7);
  playTo(12_900);
  expect(player.state().isPlaying).toBe(true);
  playTo(13_010);
  expect(player.state()).toMatchObject({ isPlaying: false, positionMs: 13_010 });
  player.play();
  await settle();
  playTo(14_000);
  expect(player.state().isPlaying).toBe(true);
});

test('an address that has expired is asked for anew, and the sound goes on where it was', async () => {
  const { player, playTo, fail, element } = openPlayer();
  const sound = soundOf('one');
  player.take(sound);
  player.play();
  await settle();
  playTo(20_000);
  fail();
  await settle();
  expect([sound.asked, element.src, element.currentTime]).toEqual([[false, true], 'one-2', 20]);
  expect(player.state()).toMatchObject({ isPlaying: true, hasFailed: false });
  fail();
  await settle();
  expect(player.state()).toMatchObject({ isPlaying: false, hasFailed: true, positionMs: 20_000 });
  player.play();
  await settle();
  expect(player.state()).toMatchObject({ isPlaying: true, hasFailed: false });
});

test('the same sound taken again goes on, another one begins at its beginning with the speed of before', async () => {
  const { player, playTo, element } = openPlayer();
  player.take(soundOf('one'));
  player.setRate(1.5);
  player.play();
  await settle();
  playTo(20_000);
  player.take(soundOf('one'));
  expect(player.state()).toMatchObject({ isPlaying: true, positionMs: 20_000 });
  player.take(soundOf('two'));
  expect(player.state()).toEqual({ isPlaying: false, positionMs: 0, rate: 1.5, hasFailed: false });
  player.play();
  await settle();
  expect([element.src, element.playbackRate]).toEqual(['two-1', 1.5]);
});

test('what has ended is at its end, and plays from its beginning again', async () => {
  const { player, playTo, end, element } = openPlayer();
  player.take(soundOf('one'));
  player.play();
  await settle();
  playTo(59_900);
  end();
  expect(player.state()).toMatchObject({ isPlaying: false, positionMs: 60_000 });
  player.play();
  await settle();
  expect([element.currentTime, element.paused]).toEqual([0, false]);
});

test('a position lies inside the sound', () => {
  const { player } = openPlayer();
  player.take(soundOf('one'));
  player.skip(-5000);
  expect(player.state().positionMs).toBe(0);
  player.seek(90_000);
  expect(player.state().positionMs).toBe(60_000);
});
