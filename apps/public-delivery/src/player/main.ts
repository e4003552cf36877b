/** The script of an episode's player (feeds/player-page.ts): its controls take the place of the browser's, and it plays by HLS. */
import type { Page } from './browser.ts';
import { canStream } from './open-stream.ts';
import { playEpisode } from './play-episode.ts';
import { clock } from './schedule.ts';

declare const document: Page;

/** What an arrow key moves. */
const stepSeconds = 10;

function showControls(): void {
  const find = (selector: string) => document.querySelector(selector);
  const [controls, button, slider, status, time] = [
    find('#p'),
    find('button'),
    find('input'),
    find('#s'),
    find('time'),
  ];
  const content = document.querySelector('audio');
  const ad = document.createElement('audio');
  const { hls: hlsUrl } = content.dataset;
  if (hlsUrl === undefined || !canStream()) return;
  const player = playEpisode({ content, ad, hlsUrl, mp3Url: content.src, onChange: show });
  let isDragging = false;

  function show(): void {
    const { mode, wanted, position, duration, place } = player.state();
    const isAd = place !== '';
    const messages: Partial<Record<typeof mode, string>> = {
      loading: 'Loading…',
      ad: isAd ? `Advertisement ${place}` : 'Loading…',
      failed: 'This episode cannot be played now.',
    };
    const message = messages[mode] ?? '';
    button.setAttribute('aria-label', wanted ? 'Pause' : 'Play');
    // Only what has changed is read aloud.
    if (status.textContent !== message) status.textContent = message;
    slider.hidden = message !== '';
    slider.disabled = mode === 'idle';
    slider.max = String(Math.floor(duration) || 0);
    if (!isDragging) slider.value = String(position);
    const [at, end] = [clock(isDragging ? Number(slider.value) : position), clock(duration)];
    slider.setAttribute('aria-valuetext', `${at} of ${end}`);
    const shown = isAd ? clock(duration - position) : `${at} / ${end}`;
    time.textContent = mode === 'idle' || (message !== '' && !isAd) ? '' : shown;
  }

  button.addEventListener('click', () => player.toggle());
  slider.addEventListener('input', () => {
    isDragging = true;
    show();
  });
  slider.addEventListener('change', () => {
    isDragging = false;
    player.seek(Number(slider.value));
  });
  slider.addEventListener('keydown', (event) => {
    const { key } = event as Event & { readonly key: string };
    const sign = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[key];
    if (sign === undefined) return;
    event.preventDefault();
    player.seek(Math.max(0, player.state().position + sign * stepSeconds));
  });
  content.controls = false;
  content.hidden = true;
  content.after(ad);
  controls.hidden = false;
  show();
}

showControls();
