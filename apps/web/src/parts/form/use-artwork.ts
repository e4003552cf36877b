import { useEffect, useRef, useState } from 'react';
import { sendMedia } from '../../api/upload/send-media.ts';
import type { MessageKey } from '../../messages/messages.ts';
import { planArtwork, type Crop } from './artwork-plan.ts';
import { cutFile, readImage } from './read-image.ts';

interface Chosen {
  readonly file: File;
  readonly image: ImageBitmap;
  /** Where it has to be cut first. */
  readonly crop: Crop | undefined;
}

/** Sends one picture at a time: another one stops the former, and so does leaving the page. */
function useSending(onAddress: (address: string) => void) {
  const [error, setError] = useState<unknown>();
  const [sent, setSent] = useState<number>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const send = async (file: File) => {
    stop.current?.abort();
    stop.current = new AbortController();
    const { signal } = stop.current;
    setError(undefined);
    setSent(0);
    try {
      const address = await sendMedia(file, 'artwork', { signal, onProgress: (bytes) => setSent(bytes / file.size) });
      if (!signal.aborted) onAddress(address);
    } catch (fault) {
      if (!signal.aborted) setError(fault);
    } finally {
      if (!signal.aborted) setSent(undefined);
    }
  };
  return { error, sent, send };
}

/**
 * A picture that is chosen, checked before a byte is sent, and sent.
 * @param onAddress gets the address of the picture once the store has it
 */
export function useArtwork(onAddress: (address: string) => void) {
  const [chosen, setChosen] = useState<Chosen>();
  const [refusal, setRefusal] = useState<MessageKey>();
  const { error, sent, send } = useSending(onAddress);

  return {
    chosen,
    /** Why the picture cannot be used. */
    refusal,
    /** Why it could not be sent. */
    error,
    /** The share that has gone; undefined while nothing is on its way. */
    sent,
    take: async (file: File | undefined): Promise<void> => {
      if (!file) return;
      const image = await readImage(file);
      const { type, size } = file;
      const plan = planArtwork({ type, size, width: image?.width ?? 0, height: image?.height ?? 0 });
      setRefusal(plan.kind === 'refused' ? `artwork.${plan.why}` : undefined);
      if (plan.kind === 'refused' || !image) return;
      setChosen({ file, image, crop: plan.kind === 'cut' ? plan.crop : undefined });
      if (plan.kind === 'fits') await send(file);
    },
    /** Cuts the middle of the picture, and sends that. */
    cut: async (): Promise<void> => {
      if (!chosen?.crop) return;
      const square = await cutFile(chosen.image, chosen.crop, chosen.file);
      if (!square) return setRefusal('artwork.not_image');
      setChosen({ file: square, image: chosen.image, crop: undefined });
      await send(square);
    },
    retry: async (): Promise<void> => {
      if (chosen && !chosen.crop) await send(chosen.file);
    },
  };
}

/** What a person chose as artwork, and how far it is. */
export type ArtworkChoice = ReturnType<typeof useArtwork>;
